// Requests about one small problem, for tests of the worker.
#pragma once

#include <string>

#include "record/messages.hpp"

namespace flashbench::testing {

inline Problem small(Dtype dtype = Dtype::fp32, Layout layout = Layout::bshd) {
  Problem problem;
  problem.batch = 2;
  problem.heads = 4;
  problem.kv_heads = 2;
  problem.seq_q = 70;
  problem.seq_k = 65;
  problem.head_dim = 8;
  problem.dtype = dtype;
  problem.mask = Mask::causal;
  problem.layout = layout;
  problem.scale = 0.35;
  return problem;
}

inline request::Prepare two_sets(const Problem& problem) {
  return {problem, Pass::fwd, {{1, ""}, {2, ""}}};
}

inline request::Output output(const std::string& impl, const std::string& dir, int set = 0) {
  request::Output request;
  request.impl = impl;
  request.dir = dir;
  request.set = set;
  return request;
}

inline request::Run run(const std::string& impl, std::int64_t count, int first_set = 0) {
  request::Run request;
  request.impl = impl;
  request.count = count;
  request.first_set = first_set;
  return request;
}

}  // namespace flashbench::testing
