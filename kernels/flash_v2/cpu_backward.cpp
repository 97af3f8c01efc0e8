// FlashAttention V2, backward (the document's section 7), on the CPU.
//
//   for Q_i, parallel over tiles, heads and batch:         a step of its own, once
//     D_i = rowsum(dO_i * O_i);  dQ_i = 0
//   for K_j, V_j, parallel over tiles, KV heads and batch: K_j, V_j loaded once
//     dK_j = dV_j = 0
//     for the query heads that read this KV head:          so that nothing is merged afterwards
//       for Q_i from the first that sees a key of the tile: tiles above the diagonal are skipped
//         S = scale Q_i K_j^T                              masked only where it crosses the
//         diagonal P = e^(S - L_i)                                  recovered from one statistic dP
//         = dO_i V_j^T;  dS = P * (dP - D_i) dV_j += P^T dO_i;  dK_j += scale dS^T Q_i        this
//         block's alone dQ_i += scale dS K_j                             when the tile before has
//         added its own
//     dK_j, dV_j to memory, once
//   dQ to 16 bits, where it has them
//
// In memory: Q, K, V, O, dO, dQ, dK, dV, L, D, and for 16 bits dQ as an fp32 sum. In a core's tile
// buffers: dK_j, dV_j, P, dS, dQ_i's share, and what the dtype or the strides ask to be converted.
// The blocks meet in dQ only. There they take turns in the order of j, so that the sum is the same
// every time; a block that is ahead waits. Differs from V1 in D, in L, in the parallel K/V tiles
// and in the skip.
#include <algorithm>
#include <atomic>
#include <vector>

#include "kernels/cpu/gradient_tile.hpp"
#include "kernels/cpu/pool.hpp"
#include "kernels/flash_v2/cpu.hpp"

namespace flashbench::kernels::cpu {
namespace {

// Whose turn it is to add to a tile of dQ: the tile of K/V with that number. No wait is for ever:
// tiles are handed out in ascending order, so the lowest at work waits for nobody.
class Turn {
 public:
  explicit Turn(int32_t& turn) : turn_(turn) {}
  void wait_for(int32_t mine) const {
    for (int32_t now = turn_.load(); now != mine; now = turn_.load()) turn_.wait(now);
  }
  void pass_on(int32_t mine) {
    turn_.store(mine + 1);
    turn_.notify_all();
  }

 private:
  std::atomic_ref<int32_t> turn_;
};

class FlashV2Backward final : public BackwardKernel {
 public:
  static constexpr TileShape kTile = {.Br = 256, .Bc = 256, .key_shares = 1};

  static FlashbenchCost cost(const FlashbenchProblem&, int threads);

  FlashV2Backward(const FlashbenchProblem& problem, int threads, void* workspace)
      : problem_(problem),
        visible_(problem),
        heads_(problem.batch * problem.query_heads),
        q_tiles_(tile_count(problem.seq_q, kTile.Br)),
        pool_(threads) {
    Arena arena(workspace);
    for (int worker = 0; worker < threads; ++worker) blocks_.emplace_back(problem, kTile, arena);
    layout(problem, arena, *this);
  }

  void run(const FlashbenchBackward& tensors) override {
    const BlasThreads one(1);
    for (GradientBlock& block : blocks_) block.counts = {};
    each_q_tile([&](int64_t head, int64_t tile, GradientBlock& block) {
      prepare(tensors, query_head_of(problem_, tensors, head), tile, block);
    });
    const int64_t kv_heads = problem_.batch * problem_.kv_heads;
    const int64_t tiles = tile_count(problem_.seq_k, kTile.Bc);
    // The heads take turns, so that those who add to the same dQ seldom meet; causal: the tiles
    // that most queries see come first.
    pool_.run(kv_heads * tiles, [&](int64_t task, int worker) {
      kv_tile(tensors, kv_head_of(problem_, tensors, task % kv_heads), task / kv_heads,
              blocks_[static_cast<size_t>(worker)]);
    });
    if (problem_.dtype == FLASHBENCH_FP32) return;
    each_q_tile([&](int64_t head, int64_t tile, GradientBlock& block) {
      convert(query_head_of(problem_, tensors, head), tile, block);
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
    const int64_t tiles = tile_count(problem_.seq_k, kTile.Bc);
    return launch_of("v2 backward", pool_.threads(), problem_.batch * problem_.kv_heads * tiles,
                     arena.used());
  }

 private:
  struct KvTile {  // what stays while the tiles of Q pass by
    int64_t number;
    Rows j;
    View K, V;
  };

  template <class Body>
  void each_q_tile(const Body& body) {
    pool_.run(heads_ * q_tiles_, [&](int64_t task, int worker) {
      body(task / q_tiles_, task % q_tiles_, blocks_[static_cast<size_t>(worker)]);
    });
  }

  void prepare(const FlashbenchBackward& tensors, const QueryHead& head, int64_t tile,
               GradientBlock& block) {
    const Rows i = tile_rows(tile, kTile.Br, problem_.seq_q);
    const int64_t row = head.index * problem_.seq_q + i.first;
    const View dO = block.load(FLASHBENCH_DO, head.d_o, i, block.d_o);  // (Br, d)
    const View O = block.load(FLASHBENCH_O, head.o, i, block.o);        // (Br, d)
    block.row_dots(dO, O, i.count);
    block.store_statistics(block.D, D_ + row, i.count);
    if (!tensors.lse) {
      block.load_statistics(tensors.m + row, block.m, i.count);
      block.load_statistics(tensors.l + row, block.l, i.count);
      for (int64_t r = 0; r < i.count; ++r) block.m[r] = log_sum_exp(block.m[r], block.l[r]);
      block.store_statistics(block.m, L_ + row, i.count);
    }
    block.clear(dq_sum_of(problem_, head, accumulator_), i);
    turns_[head.index * q_tiles_ + tile] = 0;
  }

  void kv_tile(const FlashbenchBackward& tensors, const KvHead& kv, int64_t number,
               GradientBlock& block) {
    const Rows j = tile_rows(number, kTile.Bc, problem_.seq_k);
    const KvTile tile = {number, j, block.load(FLASHBENCH_K, kv.k, j, block.k),  // (Bc, d)
                         block.load(FLASHBENCH_V, kv.v, j, block.v)};            // (Bc, d)
    block.barrier();
    block.start(j.count);
    for (int64_t index = kv.first_query; index < kv.end_query; ++index) {
      const QueryHead head = query_head_of(problem_, tensors, index);
      const float* L = (tensors.lse ? tensors.lse : L_) + index * problem_.seq_q;
      for (int64_t i = visible_.q_begin(j) / kTile.Br; i < q_tiles_; ++i)
        q_tile(head, i, L, tile, block);
    }
    block.store(FLASHBENCH_DK, block.dk, kv.dk, j);
    block.store(FLASHBENCH_DV, block.dv, kv.dv, j);
  }

  void q_tile(const QueryHead& head, int64_t number, const float* L, const KvTile& tile,
              GradientBlock& block) {
    const Rows i = tile_rows(number, kTile.Br, problem_.seq_q), j = tile.j;
    const View Q = block.load(FLASHBENCH_Q, head.q, i, block.q);        // (Br, d)
    const View dO = block.load(FLASHBENCH_DO, head.d_o, i, block.d_o);  // (Br, d)
    block.load_statistics(L + i.first, block.m, i.count);
    block.load_statistics(D_ + head.index * problem_.seq_q + i.first, block.D, i.count);
    block.barrier();
    block.scores(Q, tile.K, i.count, j.count);  // (Br, Bc)
    if (visible_.crosses(i, j)) visible_.mask(block.p, block.shape.Bc, i, j);
    block.probabilities(i.count, j.count);
    block.d_probabilities(dO, tile.V, i.count, j.count);  // (Br, Bc)
    block.softmax_gradient(i.count, j.count);
    block.barrier();
    block.add_to_keys(Q, dO, i.count, j.count);       // (Bc, d) each
    block.d_queries(tile.K, 0.0f, i.count, j.count);  // (Br, d)
    block.clear_unseeing(visible_, i);
    Turn turn(turns_[head.index * q_tiles_ + number]);
    turn.wait_for(static_cast<int32_t>(tile.number));
    block.add_to(dq_sum_of(problem_, head, accumulator_), i);
    turn.pass_on(static_cast<int32_t>(tile.number));
  }

  void convert(const QueryHead& head, int64_t tile, GradientBlock& block) {
    const Rows i = tile_rows(tile, kTile.Br, problem_.seq_q);
    block.load_copy(FLASHBENCH_DQ, dq_sum_of(problem_, head, accumulator_), i, block.dq);
    block.store(FLASHBENCH_DQ, block.dq, head.dq, i);
  }

  struct Buffers {
    float *D_, *L_;       // (B, Hq, Sq); L where m and l were given
    float* accumulator_;  // (B, Hq, Sq, d), where dQ has 16 bits
    int32_t* turns_;      // (B, Hq, Q tiles)
  };
  template <class Target>
  static void layout(const FlashbenchProblem& problem, Arena& arena, Target& to) {
    const int64_t heads = problem.batch * problem.query_heads;
    to.D_ = arena.floats(heads * problem.seq_q);
    to.L_ = arena.floats(heads * problem.seq_q);
    to.accumulator_ = arena.floats(dq_accumulator_size(problem));
    to.turns_ = arena.integers(heads * tile_count(problem.seq_q, kTile.Br));
  }

  FlashbenchProblem problem_;
  Visible visible_;
  int64_t heads_, q_tiles_;
  float *D_, *L_, *accumulator_;
  int32_t* turns_;
  std::vector<GradientBlock> blocks_;
  Pool pool_;
};

struct Loaded {                   // over one query head
  double pairs = 0, queries = 0;  // P computed, rows of Q loaded
};

Loaded loaded_of(const FlashbenchProblem& problem) {
  constexpr TileShape tile = FlashV2Backward::kTile;
  const Visible visible(problem);
  Loaded sum;
  for (int64_t number = 0; number < tile_count(problem.seq_k, tile.Bc); ++number) {
    const Rows j = tile_rows(number, tile.Bc, problem.seq_k);
    const int64_t first = std::min(visible.q_begin(j) / tile.Br * tile.Br, problem.seq_q);
    sum.pairs += static_cast<double>(j.count) * static_cast<double>(problem.seq_q - first);
    sum.queries += static_cast<double>(problem.seq_q - first);
  }
  return sum;
}

FlashbenchKernelCost main_cost(const FlashbenchProblem& problem) {
  const Loaded loaded = loaded_of(problem);
  const double heads = static_cast<double>(problem.batch * problem.query_heads);
  const double keys = static_cast<double>(problem.batch * problem.kv_heads * problem.seq_k);
  const double d = static_cast<double>(problem.head_dim), queries = heads * loaded.queries;
  const double row_bytes = d * static_cast<double>(element_bytes(problem.dtype));
  FlashbenchKernelCost kernel{};
  kernel.kernel = "v2 backward";
  kernel.pipe = FLASHBENCH_PIPE_SGEMM;
  kernel.flops = heads * 10 * loaded.pairs * d;
  kernel.exponentials = heads * loaded.pairs;
  FlashbenchTraffic& traffic = kernel.traffic;
  traffic.read[FLASHBENCH_K] = traffic.read[FLASHBENCH_V] = keys * row_bytes;
  traffic.written[FLASHBENCH_DK] = traffic.written[FLASHBENCH_DV] = keys * row_bytes;
  traffic.read[FLASHBENCH_Q] = traffic.read[FLASHBENCH_DO] = queries * row_bytes;
  traffic.read[FLASHBENCH_STATISTICS] = queries * 8;
  traffic.read[FLASHBENCH_DQ] = traffic.written[FLASHBENCH_DQ] = queries * d * 4;
  return kernel;
}

FlashbenchCost FlashV2Backward::cost(const FlashbenchProblem& problem, int threads) {
  FlashbenchCost cost{};
  cost.kernel_count = problem.dtype == FLASHBENCH_FP32 ? 2 : 3;
  Arena arena(nullptr);
  for (int worker = 0; worker < threads; ++worker) GradientBlock(problem, kTile, arena);
  Buffers measured;
  layout(problem, arena, measured);
  cost.workspace_bytes = arena.used();

  const double rows = static_cast<double>(problem.batch * problem.query_heads * problem.seq_q);
  const double d = static_cast<double>(problem.head_dim);
  const double o_bytes = rows * d * static_cast<double>(element_bytes(problem.dtype));
  FlashbenchKernelCost &dots = cost.kernels[0], &conversion = cost.kernels[2];
  dots.kernel = "v2 rowsum dO O";
  dots.traffic.read[FLASHBENCH_O] = dots.traffic.read[FLASHBENCH_DO] = o_bytes;
  dots.traffic.written[FLASHBENCH_STATISTICS] = rows * 4;
  dots.traffic.written[FLASHBENCH_DQ] = rows * d * 4;
  cost.kernels[1] = main_cost(problem);
  if (problem.dtype == FLASHBENCH_FP32) return cost;
  conversion.kernel = "v2 dQ conversion";
  conversion.traffic.read[FLASHBENCH_DQ] = rows * d * 4;
  conversion.traffic.written[FLASHBENCH_DQ] = o_bytes;
  return cost;
}

}  // namespace

FlashbenchCost FlashV2::backward_cost(const FlashbenchProblem& problem, int threads) {
  return FlashV2Backward::cost(problem, threads);
}

std::unique_ptr<BackwardKernel> FlashV2::backward(const FlashbenchProblem& problem, int threads,
                                                  void* workspace) {
  return std::make_unique<FlashV2Backward>(problem, threads, workspace);
}

}  // namespace flashbench::kernels::cpu
