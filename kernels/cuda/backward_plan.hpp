// What a backward with K and V outside launches, by its rung: the kernels of flash_v2/backward.cuh
// and what comes before and after them.
#pragma once

#include "kernels/cuda/tiled_backward.hpp"
#include "kernels/ladder/rung.hpp"

namespace flashbench::kernels {

struct BackwardKernels {
  const char* name;      // of the kernel with the products
  const void* kv_outer;  // null: not built for this head dimension or dtype
  const void* prepare;   // null where nothing is made beforehand
  const void* round;     // null where that kernel leaves dQ itself
  Tile tile;
  std::int64_t shared_bytes;
};

// adds_dq: whether dQ is summed up in it, or left to another kernel. Of the workspace's floats the
// sums of dQ come first. At most three kernels, and one fewer where dQ is left.
BackwardPlan backward_plan(const BackwardRung&, const BackwardKernels&, const FlashbenchProblem&,
                           void* workspace, bool adds_dq = true);

}  // namespace flashbench::kernels
