#include "plan/dumped.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "record/messages.hpp"

namespace flashbench {

namespace {

std::string text_of(double value) {
  return fmt::format("{}", value);
}
template <class Enum>
std::string text_of(Enum value) {
  return std::string(name(value));
}

struct Differences {
  std::vector<std::string> taken, overruled;

  // `otherwise`: what an empty axis means without the file.
  template <class Value>
  void settle(const Sweep& sweep, const char* name, std::vector<Value>& axis,
              const std::optional<Value>& dumped, Value otherwise) {
    if (!dumped) return;
    if (axis.empty()) {
      if (*dumped != otherwise) taken.push_back(fmt::format("--{} {}", name, text_of(*dumped)));
      axis = {*dumped};
    } else if (std::ranges::find(axis, *dumped) == axis.end()) {
      std::vector<std::string> given;
      for (const Value value : axis) given.push_back(text_of(value));
      overruled.push_back(fmt::format("{} {}, not {}", sweep.called(name), fmt::join(given, ","),
                                      text_of(*dumped)));
    }
  }
};

std::string case_file(const std::string& dir) {
  return (std::filesystem::path(dir) / "case.json").string();
}

}  // namespace

std::optional<CaseFacts> read_dumped(const std::string& dir) {
  const std::string path = case_file(dir);
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  try {
    return parse_case_text(text, path);
  } catch (const ProtocolError& failure) {
    throw UsageError(fmt::format("--load: {}; what --dump wrote there is meant, or no such file",
                                 failure.what()));
  }
}

Sweep with_dumped_problem(Sweep sweep, const LoadedFiles& loaded, Backend backend,
                          std::vector<std::string>& notices) {
  if (!loaded.dumped) return sweep;
  const CaseFacts& facts = *loaded.dumped;
  const std::string path = case_file(loaded.dir);
  Differences differences;
  differences.settle(sweep, "dtype", sweep.dtype, facts.dtype,
                     backend == Backend::cuda ? Dtype::fp16 : Dtype::fp32);
  differences.settle(sweep, "mask", sweep.mask, facts.mask, Mask::full);
  differences.settle(sweep, "scale", sweep.scale, facts.scale,
                     1 / std::sqrt(static_cast<double>(sweep.head_dim.front())));
  differences.settle(sweep, "layout", sweep.layout, facts.layout, Layout::bshd);
  const auto add = [&](const std::string& notice) {
    if (std::ranges::find(notices, notice) == notices.end()) notices.push_back(notice);
  };
  if (!differences.taken.empty())
    add(fmt::format("--load: taken from {}: {}", path, fmt::join(differences.taken, "; ")));
  if (!differences.overruled.empty())
    add(fmt::format("--load: other than {} says: {}", path,
                    fmt::join(differences.overruled, "; ")));
  return sweep;
}

}  // namespace flashbench
