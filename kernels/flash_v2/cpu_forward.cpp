// FlashAttention V2, forward (the document's sections 2.2, 3.2, 4.2, 5.3, 6.1), on the CPU.
//
//   for Q_i, parallel over tiles, heads and batch:        Q_i loaded once
//     O_i = 0, m_i = -inf, l_i = 0
//     for K_j, V_j up to the last key that Q_i sees:      tiles above the diagonal are skipped
//       S = scale Q_i K_j^T                               masked only where it crosses the diagonal
//       m' = max(m_i, rowmax S);  P = e^(S - m');  c = e^(m_i - m')
//       l_i = c l_i + rowsum P;   O_i = c O_i + P V_j     O_i only where m_i grew
//     O_i = O_i / l_i;  L_i = m_i + log l_i               both written once
//
// In memory: Q, K, V, O, and L if asked for. In a core's tile buffers (its "shared memory", L2):
// O_i, m_i, l_i and S, and Q_i, K_j, V_j where the dtype or the strides ask for a conversion.
// The warps split the rows of Q_i. No row meets another, so the shares are one product and nothing
// is merged. Differs from V1 in the loops' order, the delayed division, the split, the skip and L.
#include <memory>
#include <vector>

#include "kernels/cpu/adapter.hpp"
#include "kernels/cpu/pool.hpp"
#include "kernels/cpu/softmax.hpp"
#include "kernels/flash_v2/cpu.hpp"
#include "kernels/flash_v2/implementation.hpp"

namespace flashbench::kernels::cpu {
namespace {

class FlashV2Forward final : public ForwardKernel {
 public:
  static FlashbenchCost cost(const FlashbenchProblem&, int threads);
  static constexpr TileShape kTile = {.Br = 256, .Bc = 512, .key_shares = 1};

  FlashV2Forward(const FlashbenchProblem& problem, int threads, void* workspace)
      : problem_(problem), visible_(problem), pool_(threads) {
    Arena arena(workspace);
    for (int worker = 0; worker < threads; ++worker) blocks_.emplace_back(problem, kTile, arena);
  }

  void run(const FlashbenchForward& tensors) override {
    const BlasThreads one(1);
    for (Block& block : blocks_) block.counts = {};
    const int64_t heads = problem_.batch * problem_.query_heads;
    const int64_t tiles = tile_count(problem_.seq_q, kTile.Br);
    pool_.run(heads * tiles, [&](int64_t task, int worker) {
      const int64_t tile = tiles - 1 - task / heads;  // causal: those with the most keys first
      q_tile(tensors, head_of(problem_, tensors, task % heads),
             tile_rows(tile, kTile.Br, problem_.seq_q), blocks_[static_cast<size_t>(worker)]);
    });
  }

  FlashbenchCounts counts() const override {
    FlashbenchCounts sum{};
    for (const Block& block : blocks_) add(sum, block.counts);
    return sum;
  }

  FlashbenchLaunch launch() const override {
    Arena arena(nullptr);
    Block(problem_, kTile, arena);
    const int64_t tiles = tile_count(problem_.seq_q, kTile.Br);
    return launch_of("v2 forward", pool_.threads(), problem_.batch * problem_.query_heads * tiles,
                     arena.used());
  }

 private:
  void q_tile(const FlashbenchForward& tensors, const Head& head, Rows i, Block& block) {
    const View Q = block.load(FLASHBENCH_Q, head.q, i, block.q);  // (Br, d)
    DelayedSoftmax::start(block, i.count);
    const int64_t kv_end = visible_.kv_end(i);
    for (int64_t tile = 0; tile < tile_count(kv_end, kTile.Bc); ++tile) {
      const Rows j = tile_rows(tile, kTile.Bc, kv_end);
      const View K = block.load(FLASHBENCH_K, head.k, j, block.k);  // (Bc, d)
      const View V = block.load(FLASHBENCH_V, head.v, j, block.v);  // (Bc, d)
      block.barrier();
      block.scores(Q, K, i.count, j.count);  // (Br, Bc)
      if (visible_.crosses(i, j)) visible_.mask(block.s, block.shape.Bc, i, j);
      DelayedSoftmax::step(block, i.count, j.count);
      block.accumulate(V, i.count, j.count);  // (Br, d)
    }
    DelayedSoftmax::finish(block, i.count);
    block.store(FLASHBENCH_O, block.o, head.o, i);
    const int64_t row = head.index * problem_.seq_q + i.first;
    block.store_statistics(block.l, tensors.lse ? tensors.lse + row : nullptr, i.count);
  }

  FlashbenchProblem problem_;
  Visible visible_;
  std::vector<Block> blocks_;
  Pool pool_;
};

FlashbenchCost FlashV2Forward::cost(const FlashbenchProblem& problem, int threads) {
  FlashbenchCost cost{};
  cost.kernel_count = 1;
  cost.saves = FLASHBENCH_SAVES_LSE;
  Arena arena(nullptr);
  for (int worker = 0; worker < threads; ++worker) Block(problem, kTile, arena);
  cost.workspace_bytes = arena.used();

  FlashbenchKernelCost& kernel = cost.kernels[0];
  kernel.kernel = "v2 forward";
  kernel.pipe = FLASHBENCH_PIPE_SGEMM;
  const Visible visible(problem);
  double pairs = 0, keys = 0, corrections = 0;  // of one head: S computed, K rows loaded, rows
  for (int64_t tile = 0; tile < tile_count(problem.seq_q, kTile.Br); ++tile) {
    const Rows i = tile_rows(tile, kTile.Br, problem.seq_q);
    const int64_t kv_end = visible.kv_end(i);
    pairs += static_cast<double>(i.count) * static_cast<double>(kv_end);
    keys += static_cast<double>(kv_end);
    corrections += static_cast<double>(i.count * tile_count(kv_end, kTile.Bc));
  }
  const double heads = static_cast<double>(problem.batch * problem.query_heads);
  const double rows = heads * static_cast<double>(problem.seq_q);
  const double row_bytes = static_cast<double>(problem.head_dim * element_bytes(problem.dtype));
  kernel.flops = heads * 4 * pairs * static_cast<double>(problem.head_dim);
  kernel.exponentials = heads * (pairs + corrections);
  kernel.traffic.read[FLASHBENCH_Q] = rows * row_bytes;
  kernel.traffic.read[FLASHBENCH_K] = heads * keys * row_bytes;
  kernel.traffic.read[FLASHBENCH_V] = heads * keys * row_bytes;
  kernel.traffic.written[FLASHBENCH_O] = rows * row_bytes;
  kernel.traffic.written[FLASHBENCH_STATISTICS] = rows * 4;
  return cost;
}

}  // namespace

FlashbenchCost FlashV2::forward_cost(const FlashbenchProblem& problem, int threads) {
  return FlashV2Forward::cost(problem, threads);
}

std::unique_ptr<ForwardKernel> FlashV2::forward(const FlashbenchProblem& problem, int threads,
                                                void* workspace) {
  return std::make_unique<FlashV2Forward>(problem, threads, workspace);
}

}  // namespace flashbench::kernels::cpu

namespace flashbench::kernels {

FlashbenchImplementation FlashAttention2::cpu() {
  return cpu::Adapter<cpu::FlashV2>::implementation();
}

}  // namespace flashbench::kernels
