#include "record/problem.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace flashbench {

namespace {

double full_pairs(const Problem& problem) {
  return static_cast<double>(problem.seq_q) * static_cast<double>(problem.seq_k);
}

// The forward's two products cost 4 d FLOPs a pair; the backward's five are 2.5 times that.
double flops_of_pairs(const Problem& problem, Pass pass, double pairs) {
  const double forward = 4.0 * static_cast<double>(problem.batch) *
                         static_cast<double>(problem.heads) *
                         static_cast<double>(problem.head_dim) * pairs;
  switch (pass) {
    case Pass::fwd:
      return forward;
    case Pass::bwd:
      return 2.5 * forward;
    case Pass::fwd_bwd:
      return 3.5 * forward;
  }
  return forward;
}

}  // namespace

std::string problem_key(const Case& what) {
  const Problem& p = what.problem;
  return fmt::format("b{}/h{}/kv{}/q{}/k{}/d{}/{}/{}/scale{}/{}/{}{}/{}/{}", p.batch, p.heads,
                     p.kv_heads, p.seq_q, p.seq_k, p.head_dim, name(p.dtype), name(p.mask), p.scale,
                     name(p.layout), name(p.init), p.deterministic ? "/deterministic" : "",
                     name(what.cache), name(what.backend));
}

std::string key(const Case& what) {
  return fmt::format("{}/{}/{}/{}", what.impl, name(what.pass), problem_key(what), what.source);
}

std::string folder_name(const Case& what) {
  std::string folder = key(what);
  std::replace(folder.begin(), folder.end(), '/', ',');
  return folder;
}

double unmasked_pairs(const Problem& problem) {
  if (problem.mask == Mask::full) return full_pairs(problem);
  // Query i sees min(Sk, i + 1 + Sk - Sq) keys: with more queries than keys the first rows see
  // none, and the rest form a triangle of side Sk; else a rectangle stands before a triangle.
  const double rows = static_cast<double>(problem.seq_q);
  const double before = static_cast<double>(problem.seq_k) - rows;
  const double side = std::min(rows, static_cast<double>(problem.seq_k));
  return std::max(before, 0.0) * rows + side * (side + 1) / 2;
}

Flops flops(const Problem& problem, Pass pass) {
  Flops result;
  result.exact = flops_of_pairs(problem, pass, unmasked_pairs(problem));
  const double full = flops_of_pairs(problem, pass, full_pairs(problem));
  if (problem.mask == Mask::full) {
    result.counted = full;
    result.convention = "full";
  } else if (problem.seq_q == problem.seq_k) {
    result.counted = full / 2;
    result.convention = "causal-half";
  } else {
    result.counted = result.exact;
    result.convention = "causal-exact";
  }
  return result;
}

}  // namespace flashbench
