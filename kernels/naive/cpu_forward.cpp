// Standard attention, forward (the document's sections 5.2 and 8.2), on the CPU.
//
//   for every head:
//     S = scale Q K^T          a product, a part of S for each core; masked scores as well
//     P = softmax S            a row at a time over all cores: max, e^(S - m), sum, division
//     O = P V                  a product, a part of O for each core
//
// In memory: Q, K, V, O, L if asked for, and S, overwritten by P, of the whole batch: (B, Hq, Sq,
// Sk) like the tensor that a framework keeps. It is fp32 for 16-bit inputs as well, since the
// product gives fp32 here, so that no score overflows; P is rounded to the dtype. Workspace also
// holds one head's Q, K, V and O as fp32, contiguous: products read no other dtype or stride.
// Nothing is tiled; the products block for themselves.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu/adapter.hpp"
#include "kernels/naive/cpu.hpp"
#include "kernels/naive/cpu_rows.hpp"
#include "kernels/naive/implementation.hpp"

namespace flashbench::kernels::cpu {
namespace {

class NaiveForward final : public ForwardKernel {
 public:
  static FlashbenchCost cost(const FlashbenchProblem&, int threads);

  NaiveForward(const FlashbenchProblem& problem, int threads, void* workspace)
      : problem_(problem), visible_(problem), rows_(threads) {
    Arena arena(workspace);
    layout(problem, arena, *this);
  }

  void run(const FlashbenchForward& tensors) override {
    const BlasThreads one(1);
    rows_.start();
    const int64_t group = problem_.query_heads / problem_.kv_heads;
    for (int64_t index = 0; index < problem_.batch * problem_.query_heads; ++index) {
      const Head head = head_of(problem_, tensors, index);
      if (index % group == 0) {  // the heads of a group follow each other
        rows_.load(FLASHBENCH_K, head.k, problem_.seq_k, k_);
        rows_.load(FLASHBENCH_V, head.v, problem_.seq_k, v_);
      }
      rows_.load(FLASHBENCH_Q, head.q, problem_.seq_q, q_);
      attend(s_ + index * problem_.seq_q * problem_.seq_k,
             tensors.lse ? tensors.lse + index * problem_.seq_q : nullptr);
      rows_.store(FLASHBENCH_O, o_, head.o, problem_.seq_q);
    }
  }

  FlashbenchCounts counts() const override { return rows_.sum(); }

  FlashbenchLaunch launch() const override {
    return launch_of("naive softmax", rows_.threads(),
                     tile_count(problem_.seq_q, NaiveRows::kChunk), 0);
  }

 private:
  static constexpr float kNone = -std::numeric_limits<float>::infinity();

  void attend(float* s, float* lse) {
    const int64_t rows = problem_.seq_q, keys = problem_.seq_k, d = problem_.head_dim;
    FlashbenchCounts& counts = rows_.counts();
    const double product_flops =
        2.0 * static_cast<double>(d) * static_cast<double>(rows) * static_cast<double>(keys);
    const double score_bytes = bytes(rows, keys, 4);
    rows_.product_transposed({q_, d}, {k_, d}, rows, keys, d, static_cast<float>(problem_.scale), s,
                             keys);
    counts.flops += product_flops;
    counts.traffic.written[FLASHBENCH_SCORES] += score_bytes;
    rows_.each(rows, [&](int64_t r, FlashbenchCounts& own) { softmax(s + r * keys, r, lse, own); });
    rows_.product({s, keys}, {v_, d}, rows, d, keys, 1.0f, 0.0f, o_, d);
    for (int64_t r = 0; r < rows && visible_.limit(r) == 0; ++r)
      std::fill_n(o_ + r * d, d, 0.0f);  // 0 even for a NaN in V
    counts.flops += product_flops;
    counts.traffic.read[FLASHBENCH_SCORES] += score_bytes;
  }

  // One row of S becomes P; what is masked is known to be 0 and not evaluated.
  void softmax(float* s, int64_t row, float* lse, FlashbenchCounts& counts) {
    const int64_t seen = visible_.limit(row);
    const float m = row_max(s, seen);
    const float l = row_exp(s, seen, m, FLASHBENCH_FP32);
    row_divide(s, seen, l, problem_.dtype);
    std::fill(s + seen, s + problem_.seq_k, 0.0f);
    counts.exponentials += static_cast<double>(seen);
    counts.divisions += static_cast<double>(seen);
    counts.traffic.read[FLASHBENCH_SCORES] += static_cast<double>(seen * 4);
    counts.traffic.written[FLASHBENCH_SCORES] += static_cast<double>(problem_.seq_k * 4);
    if (!lse) return;
    lse[row] = seen == 0 ? kNone : m + std::log(l);
    counts.traffic.written[FLASHBENCH_STATISTICS] += 4;
  }

  static double bytes(int64_t rows, int64_t cols, int64_t element) {
    return static_cast<double>(rows) * static_cast<double>(cols) * static_cast<double>(element);
  }

  struct Buffers {
    float *q_, *k_, *v_, *o_;  // (Sq, d), (Sk, d), (Sk, d), (Sq, d) of one head
    float* s_;                 // (B, Hq, Sq, Sk)
  };
  template <class Target>
  static void layout(const FlashbenchProblem& problem, Arena& arena, Target& to) {
    const int64_t rows = problem.seq_q, keys = problem.seq_k, d = problem.head_dim;
    to.q_ = arena.floats(rows * d);
    to.k_ = arena.floats(keys * d);
    to.v_ = arena.floats(keys * d);
    to.o_ = arena.floats(rows * d);
    to.s_ = arena.floats(problem.batch * problem.query_heads * rows * keys);
  }

  FlashbenchProblem problem_;
  Visible visible_;
  float *q_, *k_, *v_, *o_, *s_;
  NaiveRows rows_;
};

FlashbenchCost NaiveForward::cost(const FlashbenchProblem& problem, int) {
  FlashbenchCost cost{};
  cost.kernel_count = 3;
  cost.saves = FLASHBENCH_SAVES_LSE;
  Arena arena(nullptr);
  Buffers measured;
  layout(problem, arena, measured);
  cost.workspace_bytes = arena.used();

  const int64_t queries = problem.seq_q, keys = problem.seq_k, d = problem.head_dim;
  const int64_t heads = problem.batch * problem.query_heads;
  const int64_t element = element_bytes(problem.dtype);
  const double q_bytes = bytes(heads * queries, d, element);
  const double kv_bytes = bytes(problem.batch * problem.kv_heads * keys, d, element);
  const double pairs = bytes(heads * queries, keys, 1);
  const double seen = static_cast<double>(heads) * seen_pairs(problem);
  FlashbenchKernelCost &scores = cost.kernels[0], &softmax = cost.kernels[1],
                       &output = cost.kernels[2];

  scores.kernel = "naive scores";
  scores.pipe = FLASHBENCH_PIPE_SGEMM;
  scores.flops = 2 * pairs * static_cast<double>(d);
  scores.traffic.read[FLASHBENCH_Q] = q_bytes;
  scores.traffic.read[FLASHBENCH_K] = kv_bytes;
  scores.traffic.written[FLASHBENCH_SCORES] = 4 * pairs;

  softmax.kernel = "naive softmax";
  softmax.exponentials = seen;
  softmax.traffic.read[FLASHBENCH_SCORES] = 4 * seen;
  softmax.traffic.written[FLASHBENCH_SCORES] = 4 * pairs;
  softmax.traffic.written[FLASHBENCH_STATISTICS] = 4 * static_cast<double>(heads * queries);

  output.kernel = "naive output";
  output.pipe = FLASHBENCH_PIPE_SGEMM;
  output.flops = scores.flops;
  output.traffic.read[FLASHBENCH_V] = kv_bytes;
  output.traffic.read[FLASHBENCH_SCORES] = 4 * pairs;
  output.traffic.written[FLASHBENCH_O] = q_bytes;
  return cost;
}

}  // namespace

FlashbenchCost Naive::forward_cost(const FlashbenchProblem& problem, int threads) {
  return NaiveForward::cost(problem, threads);
}

std::unique_ptr<ForwardKernel> Naive::forward(const FlashbenchProblem& problem, int threads,
                                              void* workspace) {
  return std::make_unique<NaiveForward>(problem, threads, workspace);
}

}  // namespace flashbench::kernels::cpu

namespace flashbench::kernels {

FlashbenchImplementation Naive::cpu() {
  return cpu::Adapter<cpu::Naive>::implementation();
}

}  // namespace flashbench::kernels
