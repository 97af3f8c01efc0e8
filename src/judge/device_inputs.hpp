// The inputs of one set on a GPU, and heads and groups of them as problems of their own.
#pragma once

#include <vector>

#include "flashbench/attention.h"
#include "judge/gpu_lane.hpp"
#include "judge/inputs.hpp"
#include "judge/keys.hpp"
#include "judge/reference.hpp"

namespace flashbench::judge {

struct HeadProblem {
  FlashbenchProblem problem{};
  FlashbenchForward arguments{};
};
struct GroupProblem {
  FlashbenchProblem problem{};
  FlashbenchBackward arguments{};
};

// (b, h, s, d) each; no dO without a backward. NaN and infinities of V stand there as 0. Problems
// that differ in scale and mask alone share them, so that each call names its own.
class DeviceInputs {
 public:
  DeviceInputs(const Inputs&, int ordinal);

  // Of the head that a block is of.
  const std::vector<Wild>& wild(const Block&) const;
  // Some rows of one head. A causal block sees no key behind its last row's: given as many keys as
  // that row sees, its mask is that of such a problem.
  HeadProblem head(const Problem&, const Block& rows) const;
  GroupProblem group(const Problem&, const Group&) const;

 private:
  void tame_v(const Inputs&, int ordinal);
  std::int64_t kv_head(const Block&) const;  // over all batches

  std::int64_t heads_, kv_heads_;
  DeviceBytes q_, k_, v_, d_o_;
  std::vector<std::vector<Wild>> wild_;  // by batch and KV head
};

}  // namespace flashbench::judge
