#include "kernels/cuda/backward_plan.hpp"

#include "kernels/cuda/problem.hpp"

namespace flashbench::kernels {
namespace {

// A problem at a rung and a tile.
struct Asked {
  const BackwardRung& rung;
  const Tile& tile;
  const FlashbenchProblem& p;
  bool adds_dq;

  double heads() const { return static_cast<double>(batch_heads_of(p)); }
  std::int64_t q_tiles() const { return batch_heads_of(p) * ceil_div(p.seq_q, tile.br); }
  std::int64_t padded_rows() const { return q_tiles() * tile.br; }
  double sums_bytes() const { return 4.0 * static_cast<double>(padded_rows()) * tile.d; }
  // Bytes of what the forward saved of a row.
  double saved_bytes() const { return rung.saved == Saved::m_and_l ? 8 : 4; }
  bool clears() const { return rung.sums == Sums::atomic && adds_dq; }
};

FlashbenchKernelCost prepare_cost(const Asked& a) {
  FlashbenchKernelCost c{"prepare_rows", FLASHBENCH_PIPE_NONE, 0, 0, {}};
  if (a.rung.dots == Dots::once) {
    c.traffic.read[FLASHBENCH_O] = c.traffic.read[FLASHBENCH_DO] = tensor_bytes(a.p, FLASHBENCH_O);
    c.traffic.read[FLASHBENCH_STATISTICS] = a.saved_bytes() * static_cast<double>(rows_of(a.p));
    c.traffic.written[FLASHBENCH_STATISTICS] =
        (4 + a.saved_bytes()) * static_cast<double>(a.padded_rows());
  }
  if (a.clears()) c.traffic.written[FLASHBENCH_DQ] = a.sums_bytes();
  return c;
}

// Added to atomically, dQ is read and written at every visit; in turn, at every visit but the first
// and the last, which only write it.
void add_query_sums(const Asked& a, const QueryVisits& visits, FlashbenchTraffic& t) {
  const double all = 4 * a.heads() * visits.tiles * a.tile.br * a.tile.d;
  if (!a.adds_dq) return;
  if (a.rung.sums == Sums::atomic) {
    t.read[FLASHBENCH_DQ] = t.written[FLASHBENCH_DQ] = all;
  } else {
    t.read[FLASHBENCH_DQ] = a.p.seq_k > 0 ? all - a.sums_bytes() : 0;
    t.written[FLASHBENCH_DQ] = t.read[FLASHBENCH_DQ] + tensor_bytes(a.p, FLASHBENCH_DQ);
  }
}

FlashbenchKernelCost kv_outer_cost(const Asked& a, const char* name) {
  const QueryVisits visits = query_visits(a.p, a.tile, a.rung.causal == Causal::skip);
  const double pairs = a.heads() * visits.tiles * a.tile.br * a.tile.bc;
  const double flops = pairs * (a.adds_dq ? 10 : 8) * a.tile.d;
  FlashbenchKernelCost c{name, FLASHBENCH_PIPE_MMA, flops, pairs, {}};
  c.traffic = backward_traffic(a.p, visits);
  if (a.rung.dots == Dots::once) {
    c.traffic.read[FLASHBENCH_STATISTICS] =
        (4 + a.saved_bytes()) * a.heads() * visits.tiles * a.tile.br;
  } else {
    c.traffic.read[FLASHBENCH_O] = c.traffic.read[FLASHBENCH_DO];
    c.traffic.read[FLASHBENCH_STATISTICS] = a.saved_bytes() * a.heads() * visits.rows;
  }
  add_query_sums(a, visits, c.traffic);
  return c;
}

FlashbenchKernelCost round_cost(const Asked& a) {
  FlashbenchKernelCost c{"round_dq", FLASHBENCH_PIPE_NONE, 0, 0, {}};
  c.traffic.read[FLASHBENCH_DQ] = a.sums_bytes();
  c.traffic.written[FLASHBENCH_DQ] = tensor_bytes(a.p, FLASHBENCH_DQ);
  return c;
}

// Lays out the workspace.
void give_workspace(const Asked& a, void* workspace, BackwardPlan& plan) {
  auto* next = static_cast<float*>(workspace);
  const auto take = [&](std::int64_t floats) {
    float* const taken = next;
    plan.workspace_bytes += 4 * floats;
    if (next) next += floats;
    return taken;
  };
  if (a.adds_dq) plan.arguments.dq_sums = take(a.padded_rows() * a.tile.d);
  if (a.rung.dots != Dots::once) return;
  plan.arguments.row_lse = take(a.padded_rows());
  plan.arguments.dots = take(a.padded_rows());
  if (a.rung.saved == Saved::m_and_l) plan.arguments.row_inverse_l = take(a.padded_rows());
}

}  // namespace

BackwardPlan backward_plan(const BackwardRung& rung, const BackwardKernels& k,
                           const FlashbenchProblem& p, void* workspace, bool adds_dq) {
  BackwardPlan plan;
  if (k.kv_outer == nullptr) return plan;
  const Asked asked{rung, k.tile, p, adds_dq};
  const int threads = k.tile.threads();
  const std::int64_t kv_tiles = rung.grid == Grid::heads ? 1 : ceil_div(p.seq_k, k.tile.bc);
  if (k.prepare)
    plan.kernels[plan.count++] = {k.prepare, threads, 0, asked.q_tiles(), prepare_cost(asked)};
  plan.kernels[plan.count++] = {k.kv_outer, threads, k.shared_bytes,
                                p.batch * p.kv_heads * kv_tiles, kv_outer_cost(asked, k.name)};
  if (k.round && adds_dq)
    plan.kernels[plan.count++] = {k.round, threads, 0, asked.q_tiles(), round_cost(asked)};
  plan.arguments = backward_arguments(p, k.tile);
  give_workspace(asked, workspace, plan);
  return plan;
}

}  // namespace flashbench::kernels
