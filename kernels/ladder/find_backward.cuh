// Instantiates the backward skeleton, and what comes before and after it, for every rung.
#pragma once

#include <utility>

#include "kernels/cuda/kv_outer_backward.cuh"
#include "kernels/flash_v2/backward_rows.cuh"
#include "kernels/ladder/backward_steps.hpp"
#include "kernels/ladder/kernels.hpp"
#include "kernels/ladder/tiles.hpp"

namespace flashbench::kernels {

// One of the rungs that have the same before and after them.
constexpr BackwardRung beside(BackwardRung rung) {
  rung.grid = Grid::heads, rung.causal = Causal::visit_all;
  return rung;
}

template <int head_dim, BackwardRung rung>
BackwardKernels backward_kernels() {
  using Kernel = LadderBackward<__nv_bfloat16, head_dim, rung>;
  using Beside = LadderBackward<__nv_bfloat16, head_dim, beside(rung)>;
  BackwardKernels kernels = kv_outer_backward<Kernel>();
  if constexpr (rung.dots == Dots::once || rung.sums == Sums::atomic)
    kernels.prepare = reinterpret_cast<const void*>(&prepare_rows<Beside>);
  if constexpr (rung.sums == Sums::atomic)
    kernels.round = reinterpret_cast<const void*>(
        &round_dq<LadderBackward<__nv_bfloat16, head_dim, beside(backward_v2)>>);
  return kernels;
}

template <int head_dim>
BackwardKernels find_backward_rung(const BackwardRung& rung) {
  BackwardKernels found{};
  const auto try_all = [&]<std::size_t... i>(std::index_sequence<i...>) {
    ((backward_rungs[i] == rung ? void(found = backward_kernels<head_dim, backward_rungs[i]>())
                                : void()),
     ...);
  };
  try_all(std::make_index_sequence<backward_rungs.size()>{});
  return found;
}

}  // namespace flashbench::kernels
