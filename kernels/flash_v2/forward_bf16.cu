#include "kernels/cuda/q_outer.cuh"
#include "kernels/flash_v2/tiles.hpp"

namespace flashbench::kernels {

TiledKernel v2_forward_bf16(std::int64_t head_dim) {
  switch (head_dim) {
    case 64:
      return q_outer_kernel<FlashV2<__nv_bfloat16, 64>>();
    case 128:
      return q_outer_kernel<FlashV2<__nv_bfloat16, 128>>();
    default:
      return {};
  }
}

}  // namespace flashbench::kernels
