#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "report/grid.hpp"

namespace flashbench {

namespace {

template <std::int64_t Problem::*Member>
std::string integer_of(const Case& what) {
  return std::to_string(what.problem.*Member);
}

template <auto Problem::*Member>
std::string word_of(const Case& what) {
  return std::string(name(what.problem.*Member));
}
template <auto Case::*Member>
std::string word_of(const Case& what) {
  return std::string(name(what.*Member));
}

std::string scale_of(const Case& what) {
  return fmt::format("{:.6g}", what.problem.scale);
}

}  // namespace

const std::vector<Axis>& axes() {
  static const std::vector<Axis> all{
      {"impl", "implementation", false, [](const Case& what) { return what.impl; }, "impl"},
      {"source", "source", false, [](const Case& what) { return what.source; }, "source"},
      {"pass", "pass", false, word_of<&Case::pass>, "pass"},
      {"batch", "batch", true, integer_of<&Problem::batch>, "problem/batch"},
      {"heads", "heads", true, integer_of<&Problem::heads>, "problem/heads"},
      {"kv-heads", "kv heads", true, integer_of<&Problem::kv_heads>, "problem/kv_heads"},
      {"seq", "seq", true, integer_of<&Problem::seq_q>, "problem/seq_q"},
      {"seq-k", "seq k", true, integer_of<&Problem::seq_k>, "problem/seq_k"},
      {"head-dim", "head dim", true, integer_of<&Problem::head_dim>, "problem/head_dim"},
      {"dtype", "dtype", false, word_of<&Problem::dtype>, "problem/dtype"},
      {"mask", "mask", false, word_of<&Problem::mask>, "problem/mask"},
      {"scale", "scale", true, scale_of, "problem/scale"},
      {"layout", "layout", false, word_of<&Problem::layout>, "problem/layout"},
      {"init", "init", false, word_of<&Problem::init>, "problem/init"},
      {"cache", "cache", false, word_of<&Case::cache>, "cache"},
      {"backend", "backend", false, word_of<&Case::backend>, "backend"},
      {"deterministic", "deterministic", false,
       [](const Case& what) { return std::string(what.problem.deterministic ? "yes" : "no"); },
       "problem/deterministic"}};
  return all;
}

std::string value_of(const Axis& axis, const Row& row) {
  return recorded(row, axis.path, axis.value(row.what)).value_or("");
}

std::string shown_key(const Row& row) {
  if (!row.unrecorded.contains("key")) return identity(row);
  std::string words;
  for (const Axis& axis : axes())
    if (const std::string value = value_of(axis, row); !value.empty())
      words += (words.empty() ? "" : " ") + axis.name + "=" + value;
  return words.empty() ? "n/a" : words;
}

std::string cell_of(const Axis& axis, const Row& row) {
  return axis.name == "impl" && row.what.impl.empty() ? shown_key(row) : value_of(axis, row);
}

std::string status_of(const Row& row) {
  return recorded(row, "status", std::string(name(row.status))).value_or("");
}

namespace {

bool is_implied(const Axis& axis, const Row& row) {
  const Problem& problem = row.what.problem;
  if (axis.name == "seq-k") return problem.seq_k == problem.seq_q;
  if (axis.name == "kv-heads") return problem.kv_heads == problem.heads;
  if (axis.name != "scale") return false;
  if (row.unrecorded.contains(axis.path)) return true;
  const double usual = 1 / std::sqrt(static_cast<double>(problem.head_dim));
  return std::abs(problem.scale - usual) <= 1e-6 * usual;
}

}  // namespace

bool is_implied(const Axis& axis, const Report& report) {
  return std::all_of(report.rows.begin(), report.rows.end(),
                     [&](const Row& row) { return is_implied(axis, row); });
}

bool says_problem(const Row& row) {
  return std::ranges::none_of(row.unrecorded, [](const std::string& path) {
    return path.starts_with("problem/") || path == "pass";
  });
}

bool follows(const Axis& axis, const Axis& other, const Report& report) {
  std::map<std::string, std::string> values;
  for (const Row& row : report.rows) {
    const std::string value = value_of(axis, row);
    if (values.try_emplace(value_of(other, row), value).first->second != value) return false;
  }
  return true;
}

const Axis& axis_called(std::string_view name) {
  return *std::ranges::find(axes(), name, &Axis::name);
}

std::string place_of(const Row& row, const Report& report) {
  std::string place;
  if (has_several_devices(report)) place = "device=" + device_of(row, report);
  const Axis& seq = axis_called("seq");
  for (const Axis& axis : axes()) {
    if (axis.name == "impl" || axis.name == "source") continue;
    if (is_constant(axis, report) || is_implied(axis, report)) continue;
    if (axis.name == "batch" && follows(axis, seq, report)) continue;
    const std::string value = value_of(axis, row);
    if (!value.empty()) place += (place.empty() ? "" : " ") + axis.name + "=" + value;
  }
  return place;
}

const std::string& device_of(const Row& row, const Report& report) {
  return origin_of(report, row).device.name;
}

bool has_several_devices(const Report& report) {
  return std::ranges::any_of(report.rows, [&](const Row& row) {
    return device_of(row, report) != device_of(report.rows.front(), report);
  });
}

bool is_constant(const Axis& axis, const Report& report) {
  for (const Row& row : report.rows)
    if (value_of(axis, row) != value_of(axis, report.rows.front())) return false;
  return true;
}

}  // namespace flashbench
