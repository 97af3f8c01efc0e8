// Looks up the kernel that an instantiation file builds of a skeleton. Kernel names Element, tile
// and rung: a type, because nvcc cannot yet launch kernels whose template arguments are structs of
// a namespace.
#pragma once

#include "kernels/cuda/tiled_forward.hpp"
#include "kernels/flash_v2/forward.cuh"

namespace flashbench::kernels {

template <class Kernel>
TiledKernel q_outer_kernel() {
  return {reinterpret_cast<const void*>(&forward_q_outer<Kernel>), Kernel::tile,
          sizeof(QOuterShared<Kernel>)};
}

}  // namespace flashbench::kernels
