#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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

std::string scale_of(const Case& what) {
  return fmt::format("{:.6g}", what.problem.scale);
}

}  // namespace

const std::vector<Axis>& axes() {
  static const std::vector<Axis> all{
      {"impl", "implementation", false, [](const Case& what) { return what.impl; }},
      {"source", "source", false, [](const Case& what) { return what.source; }},
      {"pass", "pass", false, [](const Case& what) { return std::string(name(what.pass)); }},
      {"batch", "batch", true, integer_of<&Problem::batch>},
      {"heads", "heads", true, integer_of<&Problem::heads>},
      {"kv-heads", "kv heads", true, integer_of<&Problem::kv_heads>},
      {"seq", "seq", true, integer_of<&Problem::seq_q>},
      {"seq-k", "seq k", true, integer_of<&Problem::seq_k>},
      {"head-dim", "head dim", true, integer_of<&Problem::head_dim>},
      {"dtype", "dtype", false, word_of<&Problem::dtype>},
      {"mask", "mask", false, word_of<&Problem::mask>},
      {"scale", "scale", true, scale_of},
      {"layout", "layout", false, word_of<&Problem::layout>},
      {"init", "init", false, word_of<&Problem::init>},
      {"cache", "cache", false, [](const Case& what) { return std::string(name(what.cache)); }},
      {"backend", "backend", false,
       [](const Case& what) { return std::string(name(what.backend)); }},
      {"deterministic", "deterministic", false,
       [](const Case& what) { return std::string(what.problem.deterministic ? "yes" : "no"); }}};
  return all;
}

namespace {

bool is_implied(const Axis& axis, const Problem& problem) {
  if (axis.name == "seq-k") return problem.seq_k == problem.seq_q;
  if (axis.name == "kv-heads") return problem.kv_heads == problem.heads;
  if (axis.name != "scale") return false;
  const double usual = 1 / std::sqrt(static_cast<double>(problem.head_dim));
  return std::abs(problem.scale - usual) <= 1e-6 * usual;
}

}  // namespace

bool is_implied(const Axis& axis, const Report& report) {
  return std::all_of(report.rows.begin(), report.rows.end(),
                     [&](const Row& row) { return is_implied(axis, row.what.problem); });
}

bool is_constant(const Axis& axis, const Report& report) {
  for (const Row& row : report.rows)
    if (axis.value(row.what) != axis.value(report.rows.front().what)) return false;
  return true;
}

}  // namespace flashbench
