// Tensors made by hand whose attention is known in closed form, through --load and --dump of the
// real command, on the device that is tested.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "support/npy.hpp"
#include "support/temporary_folder.hpp"
#include "support/tested_device.hpp"
#include "support/text.hpp"

namespace flashbench::test {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

// Values as a function of (b, s, h, x): the same one at all of them; random, about normal, and
// depending on seed and place alone.
inline Element constant(double value) {
  return [value](auto...) { return value; };
}
inline Element noise(std::uint64_t seed) {
  return [seed](std::int64_t b, std::int64_t s, std::int64_t h, std::int64_t x) {
    std::uint64_t bits = seed;
    for (const std::int64_t place : {b, s, h, x}) {
      bits = (bits ^ static_cast<std::uint64_t>(place)) * 0x9e3779b97f4a7c15u;
      bits ^= bits >> 29;
    }
    double sum = -2;
    for (int part = 0; part < 64; part += 16)
      sum += static_cast<double>((bits >> part) & 0xffff) / 65536;
    return sum * std::sqrt(3.0);
  };
}

struct Result {
  std::string impl;
  std::filesystem::path folder;
  Array o, lse;  // (b, s, h, d), (b, h, s)
  // Any other tensor of the run: "q", "v", "dq".
  Array tensor(const std::string& name) const { return read_npy(folder / (name + ".npy")); }
};

// A run of the command that only checks, and what it left. It fails the test unless there is one
// row for each implementation asked for and each row is ok.
class Checked {
 public:
  Checked(Arguments words, const std::string& dtype,
          const std::vector<std::string>& impls = {"naive", "v1", "v2"}) {
    std::string list;
    for (const std::string& impl : impls) list += (list.empty() ? "" : ",") + impl;
    const Arguments always{
        "run", "--device",     tested_device(), "--dtype", dtype,    "--impl",
        list,  "--check-only", "--json",        "-",       "--dump", out_.path().string()};
    words.insert(words.begin(), always.begin(), always.end());
    const Outcome run = flashbench_says(words, {}, 600);
    EXPECT_EQ(run.signal, 0);
    if (run.out.empty()) {
      ADD_FAILURE() << dtype << " ended with " << run.exit_code << " and no report: " << run.err;
      return;
    }
    const auto report = strict_json(run.out);
    EXPECT_EQ(report.at("rows").size(), impls.size());
    for (const auto& row : report.at("rows")) take(row, dtype);
  }

  // Of the rows that are ok, in the order asked for.
  const std::vector<Result>& results() const { return results_; }
  auto begin() const { return results_.begin(); }
  auto end() const { return results_.end(); }

 private:
  void take(const nlohmann::json& row, const std::string& dtype) {
    const std::string impl = row.at("impl");
    if (row.at("status") != "ok") {
      ADD_FAILURE() << impl << " in " << dtype << " is " << row.at("status") << ": "
                    << row.at("reason");
      return;
    }
    const auto folder = folder_of(impl);
    if (!folder) {
      ADD_FAILURE() << "no o.npy for " << impl;
      return;
    }
    results_.push_back({impl, *folder, read_npy(*folder / "o.npy"), read_npy(*folder / "lse.npy")});
  }
  // The folder that holds o.npy, under the one named after the row's key.
  std::optional<std::filesystem::path> folder_of(const std::string& impl) const {
    const auto& root = out_.path();
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      const std::string key = entry.path().lexically_relative(root).begin()->string();
      if (entry.path().filename() == "o.npy" && key.starts_with(impl + ","))
        return entry.path().parent_path();
    }
    return std::nullopt;
  }

  TemporaryFolder out_;
  std::vector<Result> results_;
};

struct Recipe {
  Array q, k, v;
  Arguments more = {};  // words beside device, dtype and tensors
  std::vector<std::string> impls = {"naive", "v1", "v2"};
  std::optional<Array> d_o = {};

  Checked run(const std::string& dtype) const {
    const TemporaryFolder in;
    const std::string type = dtype == "fp16" ? "<f2" : "<f4";
    write_npy(in / "q.npy", q, type);
    write_npy(in / "k.npy", k, type);
    write_npy(in / "v.npy", v, type);
    if (d_o) write_npy(in / "do.npy", *d_o, type);
    Arguments words{"--load", in.path().string()};
    words.insert(words.end(), more.begin(), more.end());
    return Checked(words, dtype, impls);
  }
};

// What an output of order 1 may be off by.
inline double tolerance(const std::string& dtype) {
  return dtype == "fp32" ? 1e-5 : dtype == "fp16" ? 1e-3 : 1e-2;
}
// What a logsumexp may be off by. The GPU's naive keeps its scores in 16 bits and is allowed one
// unit of them.
inline double lse_tolerance(const std::string& impl, const std::string& dtype, double right) {
  const double size = std::max(1.0, std::fabs(right));
  if (on_gpu && impl == "naive")
    return std::ldexp(1.0, std::ilogb(size) - (dtype == "fp16" ? 10 : 7));
  return 1e-6 * size;
}

// Every element of row s of batch b and head h.
inline void expect_row(const Result& result, std::int64_t b, std::int64_t s, std::int64_t h,
                       double value, double allowed) {
  for (std::int64_t x = 0; x < result.o.shape[3]; ++x)
    ASSERT_NEAR(result.o.at(b, s, h, x), value, allowed)
        << result.impl << " batch " << b << " row " << s << " head " << h;
}

inline void expect_lse(const Result& result, std::int64_t b, std::int64_t h, std::int64_t s,
                       double right, double allowed) {
  const double found = result.lse.at(b, h, s);
  if (std::isinf(right))
    ASSERT_EQ(found, right) << result.impl << " row " << s;
  else
    ASSERT_NEAR(found, right, allowed) << result.impl << " row " << s;
}

}  // namespace flashbench::test
