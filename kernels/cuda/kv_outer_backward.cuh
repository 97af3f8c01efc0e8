// Looks up the kernel that an instantiation file builds of the backward skeleton. What comes before
// and after it, where its rung has that, the file adds.
#pragma once

#include "kernels/cuda/backward_plan.hpp"
#include "kernels/flash_v2/backward.cuh"

namespace flashbench::kernels {

template <class Kernel>
BackwardKernels kv_outer_backward() {
  return {"backward_kv_outer",
          reinterpret_cast<const void*>(&backward_kv_outer<Kernel>),
          nullptr,
          nullptr,
          Kernel::tile,
          sizeof(BackwardShared<Kernel>)};
}

}  // namespace flashbench::kernels
