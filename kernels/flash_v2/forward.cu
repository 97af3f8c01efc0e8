#include "kernels/flash_v2/passes.hpp"

namespace flashbench::kernels {

TiledKernel v2_forward_fp16(std::int64_t head_dim);
TiledKernel v2_forward_bf16(std::int64_t head_dim);

namespace {

TiledKernel find(FlashbenchDtype dtype, std::int64_t head_dim) {
  return dtype == FLASHBENCH_FP16 ? v2_forward_fp16(head_dim) : v2_forward_bf16(head_dim);
}

}  // namespace

const TiledForward flash_v2_forward{"flash_v2_forward", v2, find};

}  // namespace flashbench::kernels
