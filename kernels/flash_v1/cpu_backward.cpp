// FlashAttention V1, backward (the document's sections 6.2, 7.1 to 7.3), on the CPU.
//
//   for KV heads and batch in parallel, and nothing else:
//     for K_j, V_j:                                  loaded once
//       dK_j = dV_j = 0
//       for the query heads that read this KV head:  one, unless heads are grouped
//         for Q_i:                                   every Q tile again; no causal skip
//           m_i, l_i, O_i, dQ_i from memory          dQ_i is known, and not read, in the first step
//           S = scale Q_i K_j^T                      masked where it crosses the diagonal
//           P = e^(S - m_i) / l_i                    two statistics, a division an element
//           dP = dO_i V_j^T
//           D_i = rowsum(dO_i * O_i)                 again for every j
//           dS = P * (dP - D_i)
//           dV_j += P^T dO_i;  dK_j += scale dS^T Q_i
//           dQ_i += scale dS K_j                     to memory in every step
//       dK_j, dV_j to memory, once
//
// In memory: Q, K, V, O, dO, dQ, dK, dV, m, l, and for 16 bits dQ as an fp32 sum until the last
// step. In a core's tile buffers: dK_j, dV_j, P, dS, dQ_i, D_i, and what the dtype or the strides
// ask to be converted. One block walks all of a head, so dQ needs neither atomics nor turns.
#include <algorithm>
#include <vector>

#include "kernels/cpu/gradient_tile.hpp"
#include "kernels/cpu/pool.hpp"
#include "kernels/flash_v1/cpu.hpp"

namespace flashbench::kernels::cpu {
namespace {

class FlashV1Backward final : public BackwardKernel {
 public:
  static constexpr TileShape kTile = {.Br = 256, .Bc = 256, .key_shares = 1};

  static FlashbenchCost cost(const FlashbenchProblem&, int threads);

  FlashV1Backward(const FlashbenchProblem& problem, int threads, void* workspace)
      : problem_(problem), visible_(problem), pool_(threads) {
    Arena arena(workspace);
    for (int worker = 0; worker < threads; ++worker) blocks_.emplace_back(problem, kTile, arena);
    accumulator_ = arena.floats(dq_accumulator_size(problem));
  }

  void run(const FlashbenchBackward& tensors) override {
    const BlasThreads one(1);
    for (GradientBlock& block : blocks_) block.counts = {};
    pool_.run(problem_.batch * problem_.kv_heads, [&](int64_t task, int worker) {
      const KvHead kv = kv_head_of(problem_, tensors, task);
      const int64_t steps = step_count(problem_);
      for (int64_t step = 0; step < steps; ++step)
        kv_tile(tensors, kv, {.first = step == 0, .last = step == steps - 1},
                tile_rows(step, kTile.Bc, problem_.seq_k), blocks_[static_cast<size_t>(worker)]);
    });
  }

  FlashbenchCounts counts() const override {
    FlashbenchCounts sum{};
    for (const GradientBlock& block : blocks_) add(sum, block.counts);
    return sum;
  }

  FlashbenchLaunch launch() const override {
    Arena arena(nullptr);
    GradientBlock(problem_, kTile, arena);
    return launch_of("v1 backward", pool_.threads(), problem_.batch * problem_.kv_heads,
                     arena.used());
  }

 private:
  struct Step {
    bool first, last;
  };
  struct KvTile {  // what stays while the tiles of Q pass by
    Step step;
    Rows j;
    View K, V;
  };

  // One step at least: without keys it writes dQ = 0.
  static int64_t step_count(const FlashbenchProblem& problem) {
    return std::max<int64_t>(1, tile_count(problem.seq_k, kTile.Bc));
  }

  void kv_tile(const FlashbenchBackward& tensors, const KvHead& kv, Step step, Rows j,
               GradientBlock& block) {
    const KvTile tile = {step, j, block.load(FLASHBENCH_K, kv.k, j, block.k),  // (Bc, d)
                         block.load(FLASHBENCH_V, kv.v, j, block.v)};          // (Bc, d)
    block.barrier();
    block.start(j.count);
    for (int64_t index = kv.first_query; index < kv.end_query; ++index) {
      const QueryHead head = query_head_of(problem_, tensors, index);
      for (int64_t i = 0; i < tile_count(problem_.seq_q, kTile.Br); ++i)
        q_tile(tensors, head, tile_rows(i, kTile.Br, problem_.seq_q), tile, block);
    }
    block.store(FLASHBENCH_DK, block.dk, kv.dk, j);
    block.store(FLASHBENCH_DV, block.dv, kv.dv, j);
  }

  void q_tile(const FlashbenchBackward& tensors, const QueryHead& head, Rows i, const KvTile& tile,
              GradientBlock& block) {
    const Rows j = tile.j;
    const View Q = block.load(FLASHBENCH_Q, head.q, i, block.q);        // (Br, d)
    const View dO = block.load(FLASHBENCH_DO, head.d_o, i, block.d_o);  // (Br, d)
    const View O = block.load(FLASHBENCH_O, head.o, i, block.o);        // (Br, d)
    load_statistics(tensors, head.index * problem_.seq_q + i.first, i.count, block);
    block.barrier();
    block.scores(Q, tile.K, i.count, j.count);  // (Br, Bc)
    if (visible_.crosses(i, j)) visible_.mask(block.p, block.shape.Bc, i, j);
    block.probabilities(i.count, j.count);
    block.divide(i.count, j.count);
    block.d_probabilities(dO, tile.V, i.count, j.count);  // (Br, Bc)
    block.row_dots(dO, O, i.count);
    block.barrier();
    block.softmax_gradient(i.count, j.count);
    block.barrier();
    block.add_to_keys(Q, dO, i.count, j.count);  // (Bc, d) each
    const Plane sum = dq_sum_of(problem_, head, accumulator_);
    if (!tile.step.first) block.load_copy(FLASHBENCH_DQ, sum, i, block.dq);
    block.d_queries(tile.K, tile.step.first ? 0.0f : 1.0f, i.count, j.count);  // (Br, d)
    block.clear_unseeing(visible_, i);
    block.store(FLASHBENCH_DQ, block.dq, tile.step.last ? head.dq : sum, i);
  }

  // A logsumexp alone is m with l = 1.
  static void load_statistics(const FlashbenchBackward& tensors, int64_t row, int64_t count,
                              GradientBlock& block) {
    const bool both = tensors.m && tensors.l;
    block.load_statistics((both ? tensors.m : tensors.lse) + row, block.m, count);
    if (both)
      block.load_statistics(tensors.l + row, block.l, count);
    else
      std::fill_n(block.l, count, 1.0f);
  }

  FlashbenchProblem problem_;
  Visible visible_;
  float* accumulator_;  // (B, Hq, Sq, d), where dQ has 16 bits
  std::vector<GradientBlock> blocks_;
  Pool pool_;
};

FlashbenchCost FlashV1Backward::cost(const FlashbenchProblem& problem, int threads) {
  FlashbenchCost cost{};
  cost.kernel_count = 1;
  Arena arena(nullptr);
  for (int worker = 0; worker < threads; ++worker) GradientBlock(problem, kTile, arena);
  arena.floats(dq_accumulator_size(problem));
  cost.workspace_bytes = arena.used();

  const double steps = static_cast<double>(step_count(problem));
  const double heads = static_cast<double>(problem.batch * problem.query_heads);
  const double rows = heads * static_cast<double>(problem.seq_q);
  const double pairs = rows * static_cast<double>(problem.seq_k);
  const double keys = static_cast<double>(problem.batch * problem.kv_heads * problem.seq_k);
  const double d = static_cast<double>(problem.head_dim);
  const double row_bytes = d * static_cast<double>(element_bytes(problem.dtype));
  FlashbenchKernelCost& kernel = cost.kernels[0];
  kernel.kernel = "v1 backward";
  kernel.pipe = FLASHBENCH_PIPE_SGEMM;
  kernel.flops = 10 * pairs * d;
  kernel.exponentials = pairs;
  FlashbenchTraffic& traffic = kernel.traffic;
  for (const auto operand : {FLASHBENCH_Q, FLASHBENCH_O, FLASHBENCH_DO})
    traffic.read[operand] = steps * rows * row_bytes;
  traffic.read[FLASHBENCH_STATISTICS] = steps * rows * 8;
  traffic.read[FLASHBENCH_K] = traffic.read[FLASHBENCH_V] = keys * row_bytes;
  traffic.written[FLASHBENCH_DK] = traffic.written[FLASHBENCH_DV] = keys * row_bytes;
  traffic.read[FLASHBENCH_DQ] = (steps - 1) * rows * d * 4;
  traffic.written[FLASHBENCH_DQ] = (steps - 1) * rows * d * 4 + rows * row_bytes;
  return cost;
}

}  // namespace

FlashbenchCost FlashV1::backward_cost(const FlashbenchProblem& problem, int threads) {
  return FlashV1Backward::cost(problem, threads);
}

std::unique_ptr<BackwardKernel> FlashV1::backward(const FlashbenchProblem& problem, int threads,
                                                  void* workspace) {
  return std::make_unique<FlashV1Backward>(problem, threads, workspace);
}

}  // namespace flashbench::kernels::cpu
