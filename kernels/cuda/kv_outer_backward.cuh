// Looks up the kernel that an instantiation file builds of the backward skeleton.
#pragma once

#include "kernels/cuda/tiled_forward.hpp"
#include "kernels/flash_v2/backward.cuh"

namespace flashbench::kernels {

template <class Kernel>
TiledKernel kv_outer_backward_kernel() {
  return {reinterpret_cast<const void*>(&backward_kv_outer<Kernel>), Kernel::tile,
          sizeof(BackwardShared<Kernel>)};
}

}  // namespace flashbench::kernels
