#include "kernels/cuda/backward_plan.hpp"
#include "kernels/flash_v1/passes.hpp"

namespace flashbench::kernels {

TiledKernel v1_backward_fp16(std::int64_t head_dim);
TiledKernel v1_backward_bf16(std::int64_t head_dim);

namespace {

BackwardPlan plan(const FlashbenchProblem& p, void* workspace) {
  const TiledKernel kernel =
      p.dtype == FLASHBENCH_FP16 ? v1_backward_fp16(p.head_dim) : v1_backward_bf16(p.head_dim);
  return backward_plan(
      backward_v1,
      {"backward_kv_outer", kernel.function, nullptr, nullptr, kernel.tile, kernel.shared_bytes}, p,
      workspace);
}

}  // namespace

const TiledBackward flash_v1_backward{plan};

}  // namespace flashbench::kernels
