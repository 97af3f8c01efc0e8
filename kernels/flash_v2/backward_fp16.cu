#include "kernels/flash_v2/backward_kernels.cuh"

namespace flashbench::kernels {

V2BackwardKernels v2_backward_fp16(std::int64_t head_dim) {
  switch (head_dim) {
    case 64:
      return v2_backward_kernels<FlashV2Backward<__half, 64>>();
    case 128:
      return v2_backward_kernels<FlashV2Backward<__half, 128>>();
    default:
      return {};
  }
}

}  // namespace flashbench::kernels
