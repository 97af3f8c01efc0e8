#include "kernels/cuda/backward_plan.hpp"
#include "kernels/flash_v1/passes.hpp"

namespace flashbench::kernels {

BackwardKernels v1_backward_fp16(std::int64_t head_dim);
BackwardKernels v1_backward_bf16(std::int64_t head_dim);

namespace {

BackwardPlan plan(const FlashbenchProblem& p, void* workspace) {
  return backward_plan(
      backward_v1,
      p.dtype == FLASHBENCH_FP16 ? v1_backward_fp16(p.head_dim) : v1_backward_bf16(p.head_dim), p,
      workspace);
}

}  // namespace

const TiledBackward flash_v1_backward{plan};

}  // namespace flashbench::kernels
