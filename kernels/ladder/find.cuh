// Instantiates the skeletons for the rungs of the ladder.
#pragma once

#include <algorithm>

#include "kernels/cuda/kv_outer.cuh"
#include "kernels/cuda/q_outer.cuh"
#include "kernels/ladder/implementation.hpp"
#include "kernels/ladder/tiles.hpp"

namespace flashbench::kernels {

template <Loop loop>
struct Skeleton;

template <>
struct Skeleton<Loop::kv_outer> {
  template <class Kernel>
  static TiledKernel kernel() {
    return kv_outer_kernel<Kernel>();
  }
};

template <>
struct Skeleton<Loop::q_outer> {
  template <class Kernel>
  static TiledKernel kernel() {
    return q_outer_kernel<Kernel>();
  }
};

template <Rung rung, int head_dim>
TiledKernel ladder_kernel() {
  TiledKernel kernel =
      Skeleton<rung.loop>::template kernel<LadderKernel<__nv_bfloat16, head_dim, rung>>();
  kernel.shared_bytes = std::max(kernel.shared_bytes, ladder_shared_bytes);
  return kernel;
}

template <Rung rung>
TiledKernel find_rung(FlashbenchDtype dtype, std::int64_t head_dim) {
  if (dtype != FLASHBENCH_BF16) return {};
  switch (head_dim) {
    case 64:
      return ladder_kernel<rung, 64>();
    case 128:
      return ladder_kernel<rung, 128>();
    default:
      return {};
  }
}

}  // namespace flashbench::kernels
