#include "kernels/flash_v1/passes.hpp"

namespace flashbench::kernels {

TiledKernel v1_forward_fp16(std::int64_t head_dim);
TiledKernel v1_forward_bf16(std::int64_t head_dim);

namespace {

TiledKernel find(FlashbenchDtype dtype, std::int64_t head_dim) {
  return dtype == FLASHBENCH_FP16 ? v1_forward_fp16(head_dim) : v1_forward_bf16(head_dim);
}

}  // namespace

const TiledForward flash_v1_forward{"flash_v1_forward", v1, find};

}  // namespace flashbench::kernels
