// Looks up the kernel that an instantiation file builds of the skeleton.
#pragma once

#include "kernels/cuda/tiled_forward.hpp"
#include "kernels/flash_v1/backward.cuh"

namespace flashbench::kernels {

template <class Kernel>
TiledKernel one_block_kernel() {
  return {reinterpret_cast<const void*>(&backward_one_block<Kernel>), Kernel::tile,
          sizeof(BackwardV1Shared<Kernel>)};
}

}  // namespace flashbench::kernels
