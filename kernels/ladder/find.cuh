// Instantiates a skeleton for every rung of the ladder that has its loop.
#pragma once

#include <algorithm>
#include <utility>

#include "kernels/cuda/kv_outer.cuh"
#include "kernels/cuda/q_outer.cuh"
#include "kernels/ladder/kernels.hpp"
#include "kernels/ladder/steps.hpp"
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

template <Loop loop, int head_dim, std::size_t... i>
TiledKernel find_rung(const Rung& rung, std::index_sequence<i...>) {
  TiledKernel found{};
  const auto try_one = [&]<std::size_t n>() {
    if constexpr (rungs[n].loop == loop)
      if (rungs[n] == rung)
        found = Skeleton<loop>::template kernel<LadderKernel<__nv_bfloat16, head_dim, rungs[n]>>();
  };
  (try_one.template operator()<i>(), ...);
  found.shared_bytes = std::max(found.shared_bytes, ladder_shared_bytes);
  return found;
}

// Of the rungs with this loop.
template <Loop loop, int head_dim>
TiledKernel find_rung(const Rung& rung) {
  return find_rung<loop, head_dim>(rung, std::make_index_sequence<rungs.size()>{});
}

}  // namespace flashbench::kernels
