// Looks up the kernels that an instantiation file builds of the skeletons.
#pragma once

#include "kernels/flash_v2/backward.cuh"
#include "kernels/flash_v2/backward_kernels.hpp"
#include "kernels/flash_v2/backward_q_outer.cuh"
#include "kernels/flash_v2/backward_rows.cuh"
#include "kernels/flash_v2/backward_tiles.hpp"

namespace flashbench::kernels {

template <class Kernel>
V2BackwardKernels v2_backward_kernels() {
  return {{"backward_kv_outer", reinterpret_cast<const void*>(&backward_kv_outer<Kernel>),
           reinterpret_cast<const void*>(&prepare_rows<Kernel>),
           reinterpret_cast<const void*>(&round_dq<Kernel>), Kernel::tile,
           sizeof(BackwardShared<Kernel>)},
          reinterpret_cast<const void*>(&backward_q_outer<Kernel>),
          Kernel::q_outer_tile,
          sizeof(BackwardQOuterShared<Kernel>)};
}

}  // namespace flashbench::kernels
