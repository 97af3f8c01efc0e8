// Looks up the kernel that an instantiation file builds of a skeleton. Kernel names Element, tile
// and rung: a type, because nvcc cannot yet launch kernels whose template arguments are structs of
// a namespace.
#pragma once

#include "kernels/cuda/tiled_forward.hpp"
#include "kernels/flash_v1/forward.cuh"

namespace flashbench::kernels {

template <class Kernel>
TiledKernel kv_outer_kernel() {
  return {reinterpret_cast<const void*>(&forward_kv_outer<Kernel>), Kernel::tile,
          sizeof(KvOuterShared<Kernel>)};
}

}  // namespace flashbench::kernels
