// FlashAttention V1, forward (the document's sections 1.1, 2.1, 3.1, 4.1), on the CPU.
//
//   for heads and batch in parallel, and nothing else:
//     for K_j, V_j:                                       loaded once a head
//       for Q_i:                                          every Q tile again; no causal skip
//         O_i, m_i, l_i from memory                       known, and not read, in the first step
//         S = scale Q_i K_j^T                             masked where it crosses the diagonal
//         m' = max(m_i, rowmax S);  P = e^(S - m')        maxima merged across the warps' keys
//         l' = l_i e^(m_i - m') + rowsum P                sums merged likewise
//         O_i = (l_i e^(m_i - m') / l') O_i + P V_j / l'  partial P V_j added up across the warps
//         O_i, m_i, l_i to memory
//
// In memory: Q, K, V, m, l, and O: for 16 bits as an fp32 accumulator until the last step, since
// rounding O_i in every step would lose it. In a core's tile buffers: O_i, m_i, l_i, S, each warp's
// partial output, and Q_i, K_j, V_j where they are converted. The warps split the keys of K_j.
#include <vector>

#include "kernels/cpu/adapter.hpp"
#include "kernels/cpu/pool.hpp"
#include "kernels/cpu/softmax.hpp"
#include "kernels/flash_v1/cpu.hpp"
#include "kernels/flash_v1/implementation.hpp"

namespace flashbench::kernels::cpu {
namespace {

class FlashV1Forward final : public ForwardKernel {
 public:
  static FlashbenchCost cost(const FlashbenchProblem&, int threads);
  static constexpr TileShape kTile = {.Br = 256, .Bc = 512, .key_shares = 4};

  FlashV1Forward(const FlashbenchProblem& problem, int threads, void* workspace)
      : problem_(problem), visible_(problem), pool_(threads) {
    Arena arena(workspace);
    layout(arena, threads);
  }

  void run(const FlashbenchForward& tensors) override {
    const BlasThreads one(1);
    for (Block& block : blocks_) block.counts = {};
    pool_.run(problem_.batch * problem_.query_heads, [&](int64_t task, int worker) {
      const Head head = head_of(problem_, tensors, task);
      Block& block = blocks_[static_cast<size_t>(worker)];
      const Memory memory = memory_of(tensors, head);
      const int64_t steps = step_count(problem_);
      for (int64_t step = 0; step < steps; ++step)
        kv_tile(head, memory, {.first = step == 0, .last = step == steps - 1},
                tile_rows(step, kTile.Bc, problem_.seq_k), block);
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
    return launch_of("v1 forward", pool_.threads(), problem_.batch * problem_.query_heads,
                     arena.used());
  }

 private:
  struct Memory {  // what one head keeps in memory between steps
    Plane o;
    float *m, *l;
  };
  struct Step {
    bool first, last;
  };

  // One step at least: without keys it writes O = 0, m = -inf, l = 0.
  static int64_t step_count(const FlashbenchProblem& problem) {
    return std::max<int64_t>(1, tile_count(problem.seq_k, kTile.Bc));
  }

  void kv_tile(const Head& head, const Memory& memory, Step step, Rows j, Block& block) {
    const View K = block.load(FLASHBENCH_K, head.k, j, block.k);  // (Bc, d)
    const View V = block.load(FLASHBENCH_V, head.v, j, block.v);  // (Bc, d)
    block.barrier();
    for (int64_t tile = 0; tile < tile_count(problem_.seq_q, kTile.Br); ++tile) {
      const Rows i = tile_rows(tile, kTile.Br, problem_.seq_q);
      const View Q = block.load(FLASHBENCH_Q, head.q, i, block.q);  // (Br, d)
      block.barrier();
      load_state(memory, step, i, block);
      block.scores(Q, K, i.count, j.count);  // (Br, Bc)
      if (visible_.crosses(i, j)) visible_.mask(block.s, block.shape.Bc, i, j);
      NormalizedSoftmax::step(block, i.count, j.count);
      block.partial_outputs(V, i.count, j.count);  // (warps, Br, d)
      NormalizedSoftmax::merge_outputs(block, i.count, j.count, step.first);
      block.store(FLASHBENCH_O, block.o, step.last ? head.o : memory.o, i);
      block.store_statistics(block.m, memory.m + i.first, i.count);
      block.store_statistics(block.l, memory.l + i.first, i.count);
    }
  }

  void load_state(const Memory& memory, Step step, Rows i, Block& block) {
    if (step.first) return NormalizedSoftmax::start(block, i.count);
    block.load_copy(FLASHBENCH_O, memory.o, i, block.o);
    block.load_statistics(memory.m + i.first, block.m, i.count);
    block.load_statistics(memory.l + i.first, block.l, i.count);
  }

  Memory memory_of(const FlashbenchForward& tensors, const Head& head) const {
    const int64_t row = head.index * problem_.seq_q;
    Memory memory = {head.o, (tensors.m ? tensors.m : m_) + row,
                     (tensors.l ? tensors.l : l_) + row};
    if (problem_.dtype != FLASHBENCH_FP32)
      memory.o = {reinterpret_cast<std::byte*>(accumulator_ + row * problem_.head_dim),
                  problem_.head_dim, problem_.head_dim, FLASHBENCH_FP32};
    return memory;
  }

  void layout(Arena& arena, int threads) {
    for (int worker = 0; worker < threads; ++worker) blocks_.emplace_back(problem_, kTile, arena);
    const int64_t rows = problem_.batch * problem_.query_heads * problem_.seq_q;
    m_ = arena.floats(rows);
    l_ = arena.floats(rows);
    accumulator_ = arena.floats(problem_.dtype == FLASHBENCH_FP32 ? 0 : rows * problem_.head_dim);
  }

  static int64_t workspace_bytes(const FlashbenchProblem& problem, int threads) {
    const int64_t rows = problem.batch * problem.query_heads * problem.seq_q;
    Arena arena(nullptr);
    for (int worker = 0; worker < threads; ++worker) Block(problem, kTile, arena);
    arena.floats(rows);
    arena.floats(rows);
    arena.floats(problem.dtype == FLASHBENCH_FP32 ? 0 : rows * problem.head_dim);
    return arena.used();
  }

  FlashbenchProblem problem_;
  Visible visible_;
  float *m_, *l_;       // (B, Hq, Sq), used where the caller wants no statistics
  float* accumulator_;  // (B, Hq, Sq, d), where O has 16 bits
  std::vector<Block> blocks_;
  Pool pool_;
};

FlashbenchCost FlashV1Forward::cost(const FlashbenchProblem& problem, int threads) {
  FlashbenchCost cost{};
  cost.kernel_count = 1;
  cost.saves = FLASHBENCH_SAVES_M_AND_L;
  cost.workspace_bytes = workspace_bytes(problem, threads);

  FlashbenchKernelCost& kernel = cost.kernels[0];
  kernel.kernel = "v1 forward";
  kernel.pipe = FLASHBENCH_PIPE_SGEMM;
  const double heads = static_cast<double>(problem.batch * problem.query_heads);
  const double rows = heads * static_cast<double>(problem.seq_q);
  const double keys = static_cast<double>(problem.seq_k);
  const double steps = static_cast<double>(step_count(problem));
  const double d = static_cast<double>(problem.head_dim);
  const double row_bytes = d * static_cast<double>(element_bytes(problem.dtype));
  kernel.flops = 4 * rows * keys * d;
  kernel.exponentials = rows * (keys + steps);
  kernel.traffic.read[FLASHBENCH_Q] = steps * rows * row_bytes;
  kernel.traffic.read[FLASHBENCH_K] = heads * keys * row_bytes;
  kernel.traffic.read[FLASHBENCH_V] = heads * keys * row_bytes;
  kernel.traffic.read[FLASHBENCH_O] = (steps - 1) * rows * d * 4;
  kernel.traffic.written[FLASHBENCH_O] = (steps - 1) * rows * d * 4 + rows * row_bytes;
  kernel.traffic.read[FLASHBENCH_STATISTICS] = (steps - 1) * rows * 8;
  kernel.traffic.written[FLASHBENCH_STATISTICS] = steps * rows * 8;
  return cost;
}

}  // namespace

FlashbenchCost FlashV1::forward_cost(const FlashbenchProblem& problem, int threads) {
  return FlashV1Forward::cost(problem, threads);
}

std::unique_ptr<ForwardKernel> FlashV1::forward(const FlashbenchProblem& problem, int threads,
                                                void* workspace) {
  return std::make_unique<FlashV1Forward>(problem, threads, workspace);
}

}  // namespace flashbench::kernels::cpu

namespace flashbench::kernels {

FlashbenchImplementation FlashAttention1::cpu() {
  return cpu::Adapter<cpu::FlashV1>::implementation();
}

}  // namespace flashbench::kernels
