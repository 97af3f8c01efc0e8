// What naive's two passes share: the instance, and how its products are batched.
#pragma once

#include <initializer_list>

#include "kernels/cuda/cublas.hpp"
#include "kernels/cuda/problem.hpp"

namespace flashbench::kernels {

struct NaiveInstance {
  FlashbenchProblem problem;
  Cublas cublas;
  char* scores;
};

// Elements of a row of scores: rows start at multiples of 16 bytes.
inline std::int64_t pitch_of(const FlashbenchProblem& p) {
  return ceil_div(p.seq_k, 8) * 8;
}

// A product by the library, of which nothing is known.
inline FlashbenchLaunch library_launch(const char* name) {
  return {name, -1, -1, -1, -1, -1, -1, -1};
}

// The (batch, KV head, head of a group) of all products, as few strided batches as the tensors'
// strides allow.
struct Batch {
  std::int64_t b, kv, u;                // the first
  std::int64_t count, step_b, step_kv;  // one step on
};

// Tensors with a head a query head, and with a head a KV head.
using Tensors = std::initializer_list<FlashbenchTensor>;

template <class F>
void for_batches(const FlashbenchProblem& p, Tensors query_heads, Tensors kv_heads, F visit) {
  const std::int64_t group = p.query_heads / p.kv_heads;
  bool one = true;
  for (const auto& t : query_heads) one &= t.batch == p.query_heads * t.head;
  for (const auto& t : kv_heads) one &= t.batch == p.kv_heads * t.head;
  for (std::int64_t u = 0; u < group; ++u) {
    if (one || p.batch == 1) {
      visit(Batch{0, 0, u, p.batch * p.kv_heads, 0, 1});
    } else if (p.batch > p.kv_heads) {
      for (std::int64_t kv = 0; kv < p.kv_heads; ++kv) visit(Batch{0, kv, u, p.batch, 1, 0});
    } else {
      for (std::int64_t b = 0; b < p.batch; ++b) visit(Batch{b, 0, u, p.kv_heads, 0, 1});
    }
  }
}

// A tensor's matrices along a batch; heads_a_step is 1 for K and V, the group for Q and O.
inline Matrices matrices(const FlashbenchTensor& t, const Batch& batch, std::int64_t heads_a_step,
                         std::int64_t head, std::int64_t element_bytes = 2) {
  const std::int64_t first = batch.b * t.batch + (batch.kv * heads_a_step + head) * t.head;
  return {static_cast<char*>(t.data) + element_bytes * first, t.seq,
          batch.step_b * t.batch + batch.step_kv * heads_a_step * t.head};
}

}  // namespace flashbench::kernels
