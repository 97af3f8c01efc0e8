#include "kernels/cuda/kv_outer.cuh"
#include "kernels/flash_v1/tiles.hpp"

namespace flashbench::kernels {

TiledKernel v1_forward_fp16(std::int64_t head_dim) {
  switch (head_dim) {
    case 64:
      return kv_outer_kernel<FlashV1<__half, 64>>();
    case 128:
      return kv_outer_kernel<FlashV1<__half, 128>>();
    default:
      return {};
  }
}

}  // namespace flashbench::kernels
