#include "kernels/cuda/problem.hpp"
#include "kernels/flash_v1/passes.hpp"

namespace flashbench::kernels {

TiledKernel v1_backward_fp16(std::int64_t head_dim);
TiledKernel v1_backward_bf16(std::int64_t head_dim);

namespace {

// dQ is read and written at every visit but the first and the last, which only write it.
FlashbenchKernelCost cost_of(const FlashbenchProblem& p, const Tile& tile) {
  const QueryVisits visits = query_visits(p, tile, false);
  const double heads = static_cast<double>(batch_heads_of(p)), d = tile.d;
  const double pairs = heads * visits.tiles * tile.br * tile.bc;
  const double rows = heads * visits.rows, sums = 4 * heads * visits.tiles * tile.br * d;
  const double last = 4 * static_cast<double>(ceil_div(p.seq_q, tile.br)) * heads * tile.br * d;
  FlashbenchKernelCost c{"flash_v1_backward", FLASHBENCH_PIPE_MMA, pairs * 10 * d, pairs, {}};
  c.traffic = backward_traffic(p, visits);
  c.traffic.read[FLASHBENCH_O] = c.traffic.read[FLASHBENCH_DO];
  c.traffic.read[FLASHBENCH_STATISTICS] = 8 * rows;
  c.traffic.read[FLASHBENCH_DQ] = p.seq_k > 0 ? sums - last : 0;
  c.traffic.written[FLASHBENCH_DQ] = c.traffic.read[FLASHBENCH_DQ] + tensor_bytes(p, FLASHBENCH_DQ);
  return c;
}

BackwardPlan plan(const FlashbenchProblem& p, void* workspace) {
  const TiledKernel kernel =
      p.dtype == FLASHBENCH_FP16 ? v1_backward_fp16(p.head_dim) : v1_backward_bf16(p.head_dim);
  BackwardPlan plan;
  if (kernel.function == nullptr) return plan;
  plan.count = 1;
  plan.kernels[0] = {kernel.function, kernel.tile.threads(), kernel.shared_bytes,
                     p.batch * p.kv_heads, cost_of(p, kernel.tile)};
  plan.arguments = backward_arguments(p, kernel.tile);
  plan.arguments.dq_sums = static_cast<float*>(workspace);
  plan.workspace_bytes =
      4 * batch_heads_of(p) * ceil_div(p.seq_q, kernel.tile.br) * kernel.tile.br * kernel.tile.d;
  return plan;
}

}  // namespace

const TiledBackward flash_v1_backward{plan};

}  // namespace flashbench::kernels
