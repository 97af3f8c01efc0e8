#include "kernels/cuda/kv_outer_backward.cuh"
#include "kernels/flash_v1/tiles.hpp"

namespace flashbench::kernels {

BackwardKernels v1_backward_fp16(std::int64_t head_dim) {
  switch (head_dim) {
    case 64:
      return kv_outer_backward<FlashV1Backward<__half, 64>>();
    case 128:
      return kv_outer_backward<FlashV1Backward<__half, 128>>();
    default:
      return {};
  }
}

}  // namespace flashbench::kernels
