#include "kernels/cuda/q_outer.cuh"
#include "kernels/flash_v2/tiles.hpp"

namespace flashbench::kernels {

TiledKernel v2_forward_fp16(std::int64_t head_dim) {
  switch (head_dim) {
    case 64:
      return q_outer_kernel<FlashV2<__half, 64>>();
    case 128:
      return q_outer_kernel<FlashV2<__half, 128>>();
    default:
      return {};
  }
}

}  // namespace flashbench::kernels
