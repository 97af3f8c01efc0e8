// What an instantiation file of the backward hands to the host.
#pragma once

#include "kernels/cuda/backward_plan.hpp"

namespace flashbench::kernels {

struct V2BackwardKernels : BackwardKernels {
  const void* q_outer;
  Tile q_outer_tile;
  std::int64_t q_outer_shared_bytes;
};

V2BackwardKernels v2_backward_fp16(std::int64_t head_dim);
V2BackwardKernels v2_backward_bf16(std::int64_t head_dim);

}  // namespace flashbench::kernels
