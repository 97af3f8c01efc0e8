// Looks up the kernels that an instantiation file builds of the skeletons.
#pragma once

#include "kernels/cuda/kv_outer_backward.cuh"
#include "kernels/flash_v2/backward_kernels.hpp"
#include "kernels/flash_v2/backward_q_outer.cuh"
#include "kernels/flash_v2/backward_rows.cuh"
#include "kernels/flash_v2/backward_tiles.hpp"

namespace flashbench::kernels {

template <class Kernel>
V2BackwardKernels v2_backward_kernels() {
  V2BackwardKernels kernels{kv_outer_backward<Kernel>(),
                            reinterpret_cast<const void*>(&backward_q_outer<Kernel>),
                            Kernel::q_outer_tile, sizeof(BackwardQOuterShared<Kernel>)};
  kernels.prepare = reinterpret_cast<const void*>(&prepare_rows<Kernel>);
  kernels.round = reinterpret_cast<const void*>(&round_dq<Kernel>);
  return kernels;
}

}  // namespace flashbench::kernels
