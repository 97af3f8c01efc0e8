#include "kernels/cpu/gradient_tile.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu/gradient_vector.hpp"
#include "kernels/cpu/vector.hpp"

namespace flashbench::kernels::cpu {
namespace {

constexpr float kNone = -std::numeric_limits<float>::infinity();  // L of a row that sees no key

}  // namespace

QueryHead query_head_of(const FlashbenchProblem& problem, const FlashbenchBackward& tensors,
                        int64_t index) {
  const int64_t b = index / problem.query_heads, h = index % problem.query_heads;
  return {index, plane_of(problem, tensors.q, b, h), plane_of(problem, tensors.o, b, h),
          plane_of(problem, tensors.d_o, b, h), plane_of(problem, tensors.dq, b, h)};
}

KvHead kv_head_of(const FlashbenchProblem& problem, const FlashbenchBackward& tensors,
                  int64_t index) {
  const int64_t group = problem.query_heads / problem.kv_heads;
  const int64_t b = index / problem.kv_heads, h = index % problem.kv_heads;
  return {index * group,
          (index + 1) * group,
          plane_of(problem, tensors.k, b, h),
          plane_of(problem, tensors.v, b, h),
          plane_of(problem, tensors.dk, b, h),
          plane_of(problem, tensors.dv, b, h)};
}

float log_sum_exp(float m, float l) {
  return l == 0.0f ? kNone : m + std::log(l);
}

Plane dq_sum_of(const FlashbenchProblem& problem, const QueryHead& head, float* accumulator) {
  if (problem.dtype == FLASHBENCH_FP32) return head.dq;
  float* first = accumulator + head.index * problem.seq_q * problem.head_dim;
  return {reinterpret_cast<std::byte*>(first), problem.head_dim, problem.head_dim, FLASHBENCH_FP32};
}

int64_t dq_accumulator_size(const FlashbenchProblem& problem) {
  if (problem.dtype == FLASHBENCH_FP32) return 0;
  return problem.batch * problem.query_heads * problem.seq_q * problem.head_dim;
}

GradientBlock::GradientBlock(const FlashbenchProblem& problem, TileShape tile, Arena& arena)
    : TileBuffers(problem), shape(clipped(tile, problem)) {
  const int64_t Br = shape.Br, Bc = shape.Bc;
  for (float** rows : {&q, &d_o, &o, &dq}) *rows = arena.floats(Br * head_dim);
  for (float** rows : {&k, &v, &dk, &dv}) *rows = arena.floats(Bc * head_dim);
  for (float** scores : {&p, &ds}) *scores = arena.floats(Br * Bc);
  for (float** statistics : {&m, &l, &D}) *statistics = arena.floats(Br);
}

void GradientBlock::start(int64_t cols) {
  std::fill_n(dk, cols * head_dim, 0.0f);
  std::fill_n(dv, cols * head_dim, 0.0f);
}

void GradientBlock::row_dots(View d_output, View output, int64_t rows) {
  for (int64_t r = 0; r < rows; ++r)
    D[r] = row_dot(d_output.data + r * d_output.stride, output.data + r * output.stride, head_dim);
}

void GradientBlock::scores(View queries, View keys, int64_t rows, int64_t cols) {
  product_transposed(queries, keys, rows, cols, head_dim, scale, p, shape.Bc);
  counts.flops += 2.0 * static_cast<double>(rows * cols * head_dim);
}

void GradientBlock::probabilities(int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    const float from = m[r] == kNone ? 0.0f : m[r];  // all scores are -inf: -inf - -inf is NaN
    row_exp(p + r * shape.Bc, cols, from, FLASHBENCH_FP32);
  }
  counts.exponentials += static_cast<double>(rows * cols);
}

void GradientBlock::divide(int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r)  // a row without keys has only zeros
    row_divide(p + r * shape.Bc, cols, l[r] == 0.0f ? 1.0f : l[r], FLASHBENCH_FP32);
  counts.divisions += static_cast<double>(rows * cols);
}

void GradientBlock::d_probabilities(View d_output, View values, int64_t rows, int64_t cols) {
  product_transposed(d_output, values, rows, cols, head_dim, 1.0f, ds, shape.Bc);
  counts.flops += 2.0 * static_cast<double>(rows * cols * head_dim);
}

void GradientBlock::softmax_gradient(int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r)
    row_softmax_gradient(p + r * shape.Bc, ds + r * shape.Bc, cols, D[r], dtype);
}

void GradientBlock::add_to_keys(View queries, View d_output, int64_t rows, int64_t cols) {
  product_of_transposed({p, shape.Bc}, d_output, cols, head_dim, rows, 1.0f, 1.0f, dv, head_dim);
  product_of_transposed({ds, shape.Bc}, queries, cols, head_dim, rows, scale, 1.0f, dk, head_dim);
  counts.flops += 4.0 * static_cast<double>(rows * cols * head_dim);
}

void GradientBlock::d_queries(View keys, float keep, int64_t rows, int64_t cols) {
  product({ds, shape.Bc}, keys, rows, head_dim, cols, scale, keep, dq, head_dim);
  counts.flops += 2.0 * static_cast<double>(rows * cols * head_dim);
}

void GradientBlock::clear_unseeing(const Visible& visible, Rows i) {
  for (int64_t r = 0; r < i.count && visible.limit(i.first + r) == 0; ++r)
    std::fill_n(dq + r * head_dim, head_dim, 0.0f);
}

void GradientBlock::add_to(const Plane& sum, Rows rows) {
  for (int64_t r = 0; r < rows.count; ++r)
    row_add(reinterpret_cast<float*>(sum.row(rows.first + r)), dq + r * head_dim, head_dim);
  counts.traffic.read[FLASHBENCH_DQ] += static_cast<double>(rows.count * head_dim * 4);
  counts.traffic.written[FLASHBENCH_DQ] += static_cast<double>(rows.count * head_dim * 4);
}

void GradientBlock::clear(const Plane& sum, Rows rows) {
  for (int64_t r = 0; r < rows.count; ++r)
    std::fill_n(reinterpret_cast<float*>(sum.row(rows.first + r)), head_dim, 0.0f);
  counts.traffic.written[FLASHBENCH_DQ] += static_cast<double>(rows.count * head_dim * 4);
}

}  // namespace flashbench::kernels::cpu
