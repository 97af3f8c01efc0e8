// Standard attention, forward (the document's sections 5.2 and 8.2), on the CPU.
//
//   for every head:
//     S = scale Q K^T          one product over all cores; masked scores are computed as well
//     P = softmax S            a row at a time over all cores: max, e^(S - m), sum, division
//     O = P V                  one product over all cores
//
// In memory: Q, K, V, O, L if asked for, and S, overwritten by P, of the whole batch: (B, Hq, Sq,
// Sk) like the tensor that a framework keeps. It is fp32 for 16-bit inputs as well, since the
// product gives fp32 here, so that no score overflows; P is rounded to the dtype. Workspace also
// holds one head's Q, K, V and O as fp32, contiguous: products read no other dtype or stride.
// Nothing is tiled; the products block for themselves.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/cpu/adapter.hpp"
#include "kernels/cpu/implementations.hpp"
#include "kernels/cpu/pool.hpp"
#include "kernels/cpu/tile.hpp"
#include "kernels/cpu/vector.hpp"

namespace flashbench::kernels::cpu {
namespace {

class Naive {
 public:
  static constexpr const char* name = "naive";
  static constexpr const char* idea = "two products, the whole S x S matrix in memory between them";
  static constexpr const char* section = "5.2, 8.2";
  static constexpr int64_t kChunk = 32;  // rows that a core takes at a time

  static FlashbenchCost cost(const FlashbenchProblem&, int threads);

  Naive(const FlashbenchProblem& problem, int threads, void* workspace)
      : problem_(problem),
        visible_(problem),
        pool_(threads),
        counts_(static_cast<size_t>(threads)) {
    Arena arena(workspace);
    layout(problem, arena, *this);
  }

  void forward(const FlashbenchForward& tensors) {
    const BlasThreads all(pool_.threads());
    std::fill(counts_.begin(), counts_.end(), Count{});
    const int64_t group = problem_.query_heads / problem_.kv_heads;
    for (int64_t index = 0; index < problem_.batch * problem_.query_heads; ++index) {
      const Head head = head_of(problem_, tensors, index);
      if (index % group == 0) {  // the heads of a group follow each other
        load(FLASHBENCH_K, head.k, problem_.seq_k, k_);
        load(FLASHBENCH_V, head.v, problem_.seq_k, v_);
      }
      load(FLASHBENCH_Q, head.q, problem_.seq_q, q_);
      attend(s_ + index * problem_.seq_q * problem_.seq_k,
             tensors.lse ? tensors.lse + index * problem_.seq_q : nullptr);
      store(head.o);
    }
  }

  FlashbenchCounts counts() const {
    FlashbenchCounts sum{};
    for (const Count& count : counts_) add(sum, count.value);
    return sum;
  }

  FlashbenchLaunch launch() const {
    return launch_of("naive softmax", pool_.threads(), tile_count(problem_.seq_q, kChunk), 0);
  }

 private:
  struct alignas(128) Count {
    FlashbenchCounts value{};
  };
  static constexpr float kNone = -std::numeric_limits<float>::infinity();

  void attend(float* s, float* lse) {
    const auto [rows, keys, d] = sizes(problem_);
    FlashbenchCounts& counts = counts_[0].value;
    const double product_flops =
        2.0 * static_cast<double>(d) * static_cast<double>(rows) * static_cast<double>(keys);
    product_transposed({q_, d}, {k_, d}, rows, keys, d, static_cast<float>(problem_.scale), s,
                       keys);
    counts.flops += product_flops;
    counts.traffic.written[FLASHBENCH_SCORES] += bytes(rows, keys, 4);
    each_row(rows, [&](int64_t r, FlashbenchCounts& own) { softmax(s + r * keys, r, lse, own); });
    product({s, keys}, {v_, d}, rows, d, keys, 0.0f, o_, d);
    counts.flops += product_flops;
    counts.traffic.read[FLASHBENCH_SCORES] += bytes(rows, keys, 4);
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

  void load(FlashbenchOperand operand, const Plane& plane, int64_t rows, float* to) {
    each_row(rows, [&](int64_t r, FlashbenchCounts& counts) {
      widen(plane.dtype, plane.row(r), to + r * plane.head_dim, plane.head_dim);
      counts.traffic.read[operand] += bytes(1, plane.head_dim, element_bytes(plane.dtype));
    });
  }

  void store(const Plane& plane) {
    each_row(problem_.seq_q, [&](int64_t r, FlashbenchCounts& counts) {
      float* o = o_ + r * plane.head_dim;
      if (visible_.limit(r) == 0) std::fill_n(o, plane.head_dim, 0.0f);  // 0 even for a NaN in V
      narrow(plane.dtype, o, plane.row(r), plane.head_dim);
      counts.traffic.written[FLASHBENCH_O] += bytes(1, plane.head_dim, element_bytes(plane.dtype));
    });
  }

  template <class Body>
  void each_row(int64_t rows, const Body& body) {
    pool_.run(tile_count(rows, kChunk), [&](int64_t chunk, int worker) {
      const Rows own = tile_rows(chunk, kChunk, rows);
      for (int64_t r = own.first; r < own.end(); ++r)
        body(r, counts_[static_cast<size_t>(worker)].value);
    });
  }

  struct Sizes {
    int64_t rows, keys, d;
  };
  static Sizes sizes(const FlashbenchProblem& problem) {
    return {problem.seq_q, problem.seq_k, problem.head_dim};
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
    const auto [rows, keys, d] = sizes(problem);
    to.q_ = arena.floats(rows * d);
    to.k_ = arena.floats(keys * d);
    to.v_ = arena.floats(keys * d);
    to.o_ = arena.floats(rows * d);
    to.s_ = arena.floats(problem.batch * problem.query_heads * rows * keys);
  }

  FlashbenchProblem problem_;
  Visible visible_;
  float *q_, *k_, *v_, *o_, *s_;
  Pool pool_;
  std::vector<Count> counts_;
};

// Scores of one head that some query sees. Causal: a rectangle before a triangle; with more queries
// than keys the first rows see none.
double seen_pairs(const FlashbenchProblem& problem) {
  const auto queries = static_cast<double>(problem.seq_q),
             keys = static_cast<double>(problem.seq_k);
  if (problem.mask != FLASHBENCH_CAUSAL) return queries * keys;
  const double side = std::min(queries, keys);
  return std::max(keys - queries, 0.0) * queries + side * (side + 1) / 2;
}

FlashbenchCost Naive::cost(const FlashbenchProblem& problem, int) {
  FlashbenchCost cost{};
  cost.kernel_count = 3;
  cost.saves = FLASHBENCH_SAVES_LSE;
  Arena arena(nullptr);
  Buffers measured;
  layout(problem, arena, measured);
  cost.workspace_bytes = arena.used();

  const auto [queries, keys, d] = sizes(problem);
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

FlashbenchImplementation naive() {
  return Adapter<Naive>::implementation();
}

}  // namespace flashbench::kernels::cpu
