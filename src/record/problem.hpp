// What is computed (Problem), by whom and how (Case), and the exact identity of a row (key).
#pragma once

#include <cstdint>
#include <string>

#include "record/enums.hpp"

namespace flashbench {

struct Problem {
  std::int64_t batch = 1, heads = 1, kv_heads = 1, seq_q = 0, seq_k = 0, head_dim = 128;
  Dtype dtype = Dtype::fp32;
  Mask mask = Mask::full;
  double scale = 0;  // resolved; 1/sqrt(head_dim) when the user gave none
  Layout layout = Layout::bshd;
  Init init = Init::normal;
  bool deterministic = false;
  bool operator==(const Problem&) const = default;
};

struct Case {
  std::string impl;
  Pass pass = Pass::fwd;
  Problem problem;
  Backend backend = Backend::cpu;
  Cache cache = Cache::cold;
  std::string source = "built-in";  // or "plugin:<file name>", "against:<label>"
  bool operator==(const Case&) const = default;
};

// Exact identity: every axis after auto is resolved, pass, implementation, source, backend, cache,
// init; never seed or device.
// "v2/fwd/b1/h16/kv16/q4096/k4096/d128/fp16/causal/scale0.08838834764831845/bshd/normal/cold/cuda/built-in".
std::string key(const Case&);
// The key without implementation, source and pass: rows that share it answer the same question.
std::string problem_key(const Case&);
// The key as one folder name ('/' becomes ','), for --dump.
std::string folder_name(const Case&);

// FLOPs by the field's convention. `convention` is "full", "causal-half" (causal, Sq = Sk: half of
// full) or "causal-exact" (causal, Sq != Sk: unmasked pairs only).
struct Flops {
  double counted = 0;  // forward 4 B Hq Sq Sk d under the convention; backward 2.5x, both 3.5x
  double exact = 0;    // from the exact count of unmasked pairs
  std::string convention;
};
Flops flops(const Problem&, Pass);
// Pairs (i, j) that the mask lets through, for one batch and head.
double unmasked_pairs(const Problem&);

}  // namespace flashbench
