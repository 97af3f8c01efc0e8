#include <algorithm>

#include "kernels/cuda/problem.hpp"
#include "kernels/flash_v2/backward_kernels.hpp"
#include "kernels/flash_v2/passes.hpp"

namespace flashbench::kernels {
namespace {

FlashbenchKernelCost q_outer_cost(const FlashbenchProblem& p, const Tile& tile) {
  double tiles = 0, keys = 0;  // of one head: K/V tiles visited and rows of K in them
  for (std::int64_t i = 0; i < ceil_div(p.seq_q, tile.br); ++i) {
    const std::int64_t end = std::clamp<std::int64_t>((i + 1) * tile.br + shift_of(p), 0, p.seq_k);
    const std::int64_t visited = std::max<std::int64_t>(1, ceil_div(end, tile.bc));
    tiles += static_cast<double>(visited);
    keys += static_cast<double>(std::min(visited * tile.bc, p.seq_k));
  }
  const double heads = static_cast<double>(batch_heads_of(p));
  const double pairs = heads * tiles * tile.br * tile.bc;
  FlashbenchKernelCost c{"backward_q_outer", FLASHBENCH_PIPE_MMA, pairs * 6 * tile.d, pairs, {}};
  c.traffic.read[FLASHBENCH_Q] = c.traffic.read[FLASHBENCH_DO] = tensor_bytes(p, FLASHBENCH_Q);
  c.traffic.read[FLASHBENCH_K] = c.traffic.read[FLASHBENCH_V] = heads * keys * 2 * tile.d;
  c.traffic.read[FLASHBENCH_STATISTICS] = 8 * static_cast<double>(rows_of(p));
  c.traffic.written[FLASHBENCH_DQ] = tensor_bytes(p, FLASHBENCH_DQ);
  return c;
}

BackwardPlan plan(const FlashbenchProblem& p, void* workspace) {
  const V2BackwardKernels k =
      p.dtype == FLASHBENCH_FP16 ? v2_backward_fp16(p.head_dim) : v2_backward_bf16(p.head_dim);
  BackwardPlan plan = backward_plan(backward_v2, k, p, workspace, !p.deterministic);
  if (plan.count > 0 && p.deterministic)
    plan.kernels[plan.count++] = {k.q_outer, k.q_outer_tile.threads(), k.q_outer_shared_bytes,
                                  batch_heads_of(p) * ceil_div(p.seq_q, k.q_outer_tile.br),
                                  q_outer_cost(p, k.q_outer_tile)};
  return plan;
}

}  // namespace

const TiledBackward flash_v2_backward{plan};

}  // namespace flashbench::kernels
