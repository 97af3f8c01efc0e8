// What an instantiation file of the backward hands to the host.
#pragma once

#include "kernels/blocks/tile.hpp"

namespace flashbench::kernels {

struct V2BackwardKernels {
  const void *prepare, *kv_outer, *q_outer, *round;  // null: not built for this head dimension
  Tile tile, q_outer_tile;
  std::int64_t shared_bytes, q_outer_shared_bytes;
};

V2BackwardKernels v2_backward_fp16(std::int64_t head_dim);
V2BackwardKernels v2_backward_bf16(std::int64_t head_dim);

}  // namespace flashbench::kernels
