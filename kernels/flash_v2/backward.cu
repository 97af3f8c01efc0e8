#include <algorithm>

#include "kernels/cuda/problem.hpp"
#include "kernels/flash_v2/backward_kernels.hpp"
#include "kernels/flash_v2/passes.hpp"

namespace flashbench::kernels {
namespace {

FlashbenchKernelCost prepare_cost(const FlashbenchProblem& p, double padded_rows, bool clears) {
  FlashbenchKernelCost c{"prepare_rows", FLASHBENCH_PIPE_NONE, 0, 0, {}};
  c.traffic.read[FLASHBENCH_O] = c.traffic.read[FLASHBENCH_DO] = tensor_bytes(p, FLASHBENCH_O);
  c.traffic.read[FLASHBENCH_STATISTICS] = 4 * static_cast<double>(rows_of(p));
  c.traffic.written[FLASHBENCH_STATISTICS] = 8 * padded_rows;
  if (clears) c.traffic.written[FLASHBENCH_DQ] = 4 * padded_rows * static_cast<double>(p.head_dim);
  return c;
}

FlashbenchKernelCost kv_outer_cost(const FlashbenchProblem& p, const Tile& tile, bool adds_dq) {
  const QueryVisits visits = query_visits(p, tile, true);
  const double heads = static_cast<double>(batch_heads_of(p));
  const double pairs = heads * visits.tiles * tile.br * tile.bc;
  FlashbenchKernelCost c{
      "backward_kv_outer", FLASHBENCH_PIPE_MMA, pairs * (adds_dq ? 10 : 8) * tile.d, pairs, {}};
  c.traffic = backward_traffic(p, visits);
  c.traffic.read[FLASHBENCH_STATISTICS] = 8 * heads * visits.tiles * tile.br;
  if (adds_dq)
    c.traffic.read[FLASHBENCH_DQ] = c.traffic.written[FLASHBENCH_DQ] =
        4 * heads * visits.tiles * tile.br * tile.d;
  return c;
}

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

FlashbenchKernelCost round_cost(const FlashbenchProblem& p, double padded_rows) {
  FlashbenchKernelCost c{"round_dq", FLASHBENCH_PIPE_NONE, 0, 0, {}};
  c.traffic.read[FLASHBENCH_DQ] = 4 * padded_rows * static_cast<double>(p.head_dim);
  c.traffic.written[FLASHBENCH_DQ] = tensor_bytes(p, FLASHBENCH_DQ);
  return c;
}

BackwardPlan plan(const FlashbenchProblem& p, void* workspace) {
  const V2BackwardKernels k =
      p.dtype == FLASHBENCH_FP16 ? v2_backward_fp16(p.head_dim) : v2_backward_bf16(p.head_dim);
  BackwardPlan plan;
  if (k.kv_outer == nullptr) return plan;
  const bool adds_dq = !p.deterministic;
  const int threads = k.tile.threads();
  const std::int64_t q_tiles = batch_heads_of(p) * ceil_div(p.seq_q, k.tile.br);
  const std::int64_t kv_tiles = p.batch * p.kv_heads * ceil_div(p.seq_k, k.tile.bc);
  const std::int64_t rows = q_tiles * k.tile.br, sums = adds_dq ? rows * k.tile.d : 0;
  const auto padded = static_cast<double>(rows);
  plan.count = 3;
  plan.kernels[0] = {k.prepare, threads, 0, q_tiles, prepare_cost(p, padded, adds_dq)};
  plan.kernels[1] = {k.kv_outer, threads, k.shared_bytes, kv_tiles,
                     kv_outer_cost(p, k.tile, adds_dq)};
  if (adds_dq)
    plan.kernels[2] = {k.round, threads, 0, q_tiles, round_cost(p, padded)};
  else
    plan.kernels[2] = {k.q_outer, k.q_outer_tile.threads(), k.q_outer_shared_bytes, q_tiles,
                       q_outer_cost(p, k.q_outer_tile)};
  plan.arguments = backward_arguments(p, k.tile);
  if (auto* floats = static_cast<float*>(workspace)) {
    plan.arguments.dq_sums = adds_dq ? floats : nullptr;
    plan.arguments.row_lse = floats + sums;
    plan.arguments.dots = floats + sums + rows;
  }
  plan.workspace_bytes = 4 * (sums + 2 * rows);
  return plan;
}

}  // namespace

const TiledBackward flash_v2_backward{plan};

}  // namespace flashbench::kernels
