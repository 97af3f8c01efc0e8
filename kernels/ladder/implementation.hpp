// A row of the implementation table from a rung.
#pragma once

#include "kernels/cuda/tiled_implementation.hpp"
#include "kernels/ladder/rung.hpp"

namespace flashbench::kernels {

// Built in bf16 and for head dimensions 64 and 128; in kv_outer.cu or q_outer.cu.
template <Rung rung>
TiledKernel find_rung(FlashbenchDtype, std::int64_t head_dim);

template <Rung rung>
inline constexpr TiledForward rung_forward{
    rung.loop == Loop::kv_outer ? "forward_kv_outer" : "forward_q_outer", rung, find_rung<rung>};

template <Rung rung>
inline constexpr TiledPasses rung_passes{FLASHBENCH_FORWARD, rung_forward<rung>, nullptr};

template <Rung rung>
constexpr FlashbenchImplementation rung_implementation(const Step& step) {
  return tiled_implementation<rung_passes<rung>>(step.name, step.idea, step.section);
}

}  // namespace flashbench::kernels
