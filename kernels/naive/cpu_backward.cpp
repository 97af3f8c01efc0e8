// Standard attention, backward (the document's sections 5.2, 7.3 and 8.2), on the CPU.
//
//   for every head:
//     S = scale Q K^T           of each product a part for each core; masked scores as well
//     dP = dO V^T
//     P = e^(S - L)             a row at a time over all cores, and with the whole row at hand
//     D = rowsum(dP * P)        the left side of 7.3: neither O nor a step before is needed
//     dS = P * (dP - D)
//     dV += P^T dO;  dQ = scale dS K;  dK += scale dS^T Q
//
// In memory: Q, K, V, dO, dQ, dK, dV, the statistics, and twice the scores of the whole batch, (B,
// Hq, Sq, Sk) in fp32: S, overwritten by P, and dP, overwritten by dS. P and dS are rounded to the
// dtype. Workspace also holds one head's Q, K, V, dO, dQ, dK and dV as fp32, contiguous: products
// read no other dtype or stride. Nothing is tiled; the products block for themselves.
#include <algorithm>
#include <cmath>

#include "kernels/cpu/gradient_tile.hpp"
#include "kernels/cpu/gradient_vector.hpp"
#include "kernels/naive/cpu.hpp"
#include "kernels/naive/cpu_rows.hpp"

namespace flashbench::kernels::cpu {
namespace {

class NaiveBackward final : public BackwardKernel {
 public:
  static FlashbenchCost cost(const FlashbenchProblem&, int threads);

  NaiveBackward(const FlashbenchProblem& problem, int threads, void* workspace)
      : problem_(problem), visible_(problem), rows_(threads) {
    Arena arena(workspace);
    layout(problem, arena, *this);
  }

  void run(const FlashbenchBackward& tensors) override {
    const BlasThreads one(1);
    rows_.start();
    const int64_t d = problem_.head_dim, keys = problem_.seq_k, queries = problem_.seq_q;
    for (int64_t kv = 0; kv < problem_.batch * problem_.kv_heads; ++kv) {
      const KvHead group = kv_head_of(problem_, tensors, kv);
      rows_.load(FLASHBENCH_K, group.k, keys, k_);
      rows_.load(FLASHBENCH_V, group.v, keys, v_);
      std::fill_n(dk_, keys * d, 0.0f);
      std::fill_n(dv_, keys * d, 0.0f);
      for (int64_t index = group.first_query; index < group.end_query; ++index) {
        const QueryHead head = query_head_of(problem_, tensors, index);
        rows_.load(FLASHBENCH_Q, head.q, queries, q_);
        rows_.load(FLASHBENCH_DO, head.d_o, queries, d_o_);
        differentiate(tensors, index);
        rows_.store(FLASHBENCH_DQ, dq_, head.dq, queries);
      }
      rows_.store(FLASHBENCH_DK, dk_, group.dk, keys);
      rows_.store(FLASHBENCH_DV, dv_, group.dv, keys);
    }
  }

  FlashbenchCounts counts() const override { return rows_.sum(); }

  FlashbenchLaunch launch() const override {
    return launch_of("naive softmax backward", rows_.threads(),
                     tile_count(problem_.seq_q, NaiveRows::kChunk), 0);
  }

 private:
  // One query head: dQ, and its part of dK and dV.
  void differentiate(const FlashbenchBackward& tensors, int64_t index) {
    const int64_t rows = problem_.seq_q, keys = problem_.seq_k, d = problem_.head_dim;
    const float scale = static_cast<float>(problem_.scale);
    float* p = p_ + index * rows * keys;
    float* ds = ds_ + index * rows * keys;
    rows_.product_transposed({q_, d}, {k_, d}, rows, keys, d, scale, p, keys);
    rows_.product_transposed({d_o_, d}, {v_, d}, rows, keys, d, 1.0f, ds, keys);
    rows_.each(rows, [&](int64_t r, FlashbenchCounts& counts) {
      const float L = load_statistic(tensors, index * rows + r, counts);
      softmax_gradient(p + r * keys, ds + r * keys, r, L, counts);
    });
    rows_.product_of_transposed({p, keys}, {d_o_, d}, keys, d, rows, 1.0f, 1.0f, dv_, d);
    rows_.product({ds, keys}, {k_, d}, rows, d, keys, scale, 0.0f, dq_, d);
    for (int64_t r = 0; r < rows && visible_.limit(r) == 0; ++r)
      std::fill_n(dq_ + r * d, d, 0.0f);  // 0 even for a NaN in K
    rows_.product_of_transposed({ds, keys}, {q_, d}, keys, d, rows, scale, 1.0f, dk_, d);
    const double pairs = static_cast<double>(rows) * static_cast<double>(keys);
    rows_.counts().flops += 10 * pairs * static_cast<double>(d);
    rows_.counts().traffic.written[FLASHBENCH_SCORES] += 2 * 4 * pairs;
    rows_.counts().traffic.read[FLASHBENCH_SCORES] += 3 * 4 * pairs;
  }

  static float load_statistic(const FlashbenchBackward& tensors, int64_t row,
                              FlashbenchCounts& counts) {
    counts.traffic.read[FLASHBENCH_STATISTICS] += tensors.lse ? 4 : 8;
    return tensors.lse ? tensors.lse[row] : log_sum_exp(tensors.m[row], tensors.l[row]);
  }

  // One row: S becomes P and dP becomes dS; what is masked is known to be 0 and not evaluated.
  void softmax_gradient(float* p, float* ds, int64_t row, float L, FlashbenchCounts& counts) {
    const int64_t seen = visible_.limit(row), keys = problem_.seq_k;
    row_exp(p, seen, L, FLASHBENCH_FP32);
    row_softmax_gradient(p, ds, seen, row_dot(p, ds, seen), problem_.dtype);
    std::fill(p + seen, p + keys, 0.0f);
    std::fill(ds + seen, ds + keys, 0.0f);
    counts.exponentials += static_cast<double>(seen);
    counts.traffic.read[FLASHBENCH_SCORES] += static_cast<double>(2 * seen * 4);
    counts.traffic.written[FLASHBENCH_SCORES] += static_cast<double>(2 * keys * 4);
  }

  struct Buffers {
    float *q_, *k_, *v_, *d_o_;  // (Sq, d), (Sk, d), (Sk, d), (Sq, d) of one head
    float *dq_, *dk_, *dv_;      // (Sq, d), (Sk, d), (Sk, d)
    float *p_, *ds_;             // (B, Hq, Sq, Sk) each
  };
  template <class Target>
  static void layout(const FlashbenchProblem& problem, Arena& arena, Target& to) {
    const int64_t rows = problem.seq_q, keys = problem.seq_k, d = problem.head_dim;
    const int64_t scores = problem.batch * problem.query_heads * rows * keys;
    for (float** matrix : {&to.q_, &to.d_o_, &to.dq_}) *matrix = arena.floats(rows * d);
    for (float** matrix : {&to.k_, &to.v_, &to.dk_, &to.dv_}) *matrix = arena.floats(keys * d);
    to.p_ = arena.floats(scores);
    to.ds_ = arena.floats(scores);
  }

  FlashbenchProblem problem_;
  Visible visible_;
  float *q_, *k_, *v_, *d_o_, *dq_, *dk_, *dv_, *p_, *ds_;
  NaiveRows rows_;
};

// A product that reads or writes one matrix of scores.
FlashbenchKernelCost product_cost(const char* name, const FlashbenchProblem& problem) {
  FlashbenchKernelCost kernel{};
  kernel.kernel = name;
  kernel.pipe = FLASHBENCH_PIPE_SGEMM;
  kernel.flops = 2 * static_cast<double>(problem.batch * problem.query_heads * problem.seq_q) *
                 static_cast<double>(problem.seq_k) * static_cast<double>(problem.head_dim);
  return kernel;
}

FlashbenchKernelCost softmax_cost(const FlashbenchProblem& problem, double score_bytes) {
  const double heads = static_cast<double>(problem.batch * problem.query_heads);
  FlashbenchKernelCost kernel{};
  kernel.kernel = "naive softmax backward";
  kernel.exponentials = heads * seen_pairs(problem);
  kernel.traffic.read[FLASHBENCH_STATISTICS] = 4 * heads * static_cast<double>(problem.seq_q);
  kernel.traffic.read[FLASHBENCH_SCORES] = 2 * 4 * kernel.exponentials;
  kernel.traffic.written[FLASHBENCH_SCORES] = 2 * score_bytes;
  return kernel;
}

FlashbenchCost NaiveBackward::cost(const FlashbenchProblem& problem, int) {
  Arena arena(nullptr);
  Buffers measured;
  layout(problem, arena, measured);
  FlashbenchCost cost{};
  cost.workspace_bytes = arena.used();

  const double row_bytes = static_cast<double>(problem.head_dim * element_bytes(problem.dtype));
  const double rows = static_cast<double>(problem.batch * problem.query_heads * problem.seq_q);
  const double q_bytes = rows * row_bytes,
               score_bytes = 4 * rows * static_cast<double>(problem.seq_k);
  const double kv_bytes =
      static_cast<double>(problem.batch * problem.kv_heads * problem.seq_k) * row_bytes;
  const auto add_product = [&](const char* name) -> FlashbenchTraffic& {
    return (cost.kernels[cost.kernel_count++] = product_cost(name, problem)).traffic;
  };
  FlashbenchTraffic& s = add_product("naive scores");
  s.read[FLASHBENCH_Q] = q_bytes, s.read[FLASHBENCH_K] = kv_bytes;
  FlashbenchTraffic& dp = add_product("naive dP");
  dp.read[FLASHBENCH_DO] = q_bytes, dp.read[FLASHBENCH_V] = kv_bytes;
  s.written[FLASHBENCH_SCORES] = dp.written[FLASHBENCH_SCORES] = score_bytes;
  cost.kernels[cost.kernel_count++] = softmax_cost(problem, score_bytes);
  FlashbenchTraffic& dv = add_product("naive dV");  // Q, K and dO are still there, as fp32
  FlashbenchTraffic& dq = add_product("naive dQ");
  FlashbenchTraffic& dk = add_product("naive dK");
  for (FlashbenchTraffic* each : {&dv, &dq, &dk}) each->read[FLASHBENCH_SCORES] = score_bytes;
  dv.written[FLASHBENCH_DV] = dk.written[FLASHBENCH_DK] = kv_bytes;
  dq.written[FLASHBENCH_DQ] = q_bytes;
  return cost;
}

}  // namespace

FlashbenchCost Naive::backward_cost(const FlashbenchProblem& problem, int threads) {
  return NaiveBackward::cost(problem, threads);
}

std::unique_ptr<BackwardKernel> Naive::backward(const FlashbenchProblem& problem, int threads,
                                                void* workspace) {
  return std::make_unique<NaiveBackward>(problem, threads, workspace);
}

}  // namespace flashbench::kernels::cpu
