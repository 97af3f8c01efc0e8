#include "kernels/cpu/tile.hpp"

#include <cblas.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "kernels/cpu/vector.hpp"

namespace flashbench::kernels::cpu {
namespace {

blasint blas(int64_t value) {
  return static_cast<blasint>(value);
}

// A product over nothing: no promise of BLAS covers it.
void keep_only(int64_t rows, int64_t cols, float keep, float* c, int64_t c_stride) {
  if (keep == 0.0f)
    for (int64_t r = 0; r < rows; ++r) std::fill_n(c + r * c_stride, cols, 0.0f);
}

}  // namespace

int64_t element_bytes(FlashbenchDtype dtype) {
  return dtype == FLASHBENCH_FP32 ? 4 : 2;
}

Plane plane_of(const FlashbenchProblem& problem, const FlashbenchTensor& tensor, int64_t batch,
               int64_t head) {
  auto* data = static_cast<std::byte*>(tensor.data);
  const int64_t offset = batch * tensor.batch + head * tensor.head;
  if (data) data += offset * element_bytes(problem.dtype);
  return {data, tensor.seq, problem.head_dim, problem.dtype};
}

Head head_of(const FlashbenchProblem& problem, const FlashbenchForward& forward, int64_t index) {
  const int64_t b = index / problem.query_heads;
  const int64_t h = index % problem.query_heads;
  const int64_t kv = h * problem.kv_heads / problem.query_heads;
  return {index, plane_of(problem, forward.q, b, h), plane_of(problem, forward.k, b, kv),
          plane_of(problem, forward.v, b, kv), plane_of(problem, forward.o, b, h)};
}

TileShape clipped(TileShape shape, const FlashbenchProblem& problem) {
  shape.Br = std::clamp<int64_t>(problem.seq_q, 1, shape.Br);
  shape.Bc = std::clamp<int64_t>(problem.seq_k, 1, shape.Bc);
  return shape;
}

void product_transposed(View a, View b, int64_t rows, int64_t cols, int64_t depth, float scale,
                        float* c, int64_t c_stride) {
  if (rows == 0 || cols == 0) return;
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, blas(rows), blas(cols), blas(depth), scale,
              a.data, blas(a.stride), b.data, blas(b.stride), 0.0f, c, blas(c_stride));
}

void product(View a, View b, int64_t rows, int64_t cols, int64_t depth, float scale, float keep,
             float* c, int64_t c_stride) {
  if (rows == 0 || cols == 0) return;
  if (depth == 0) return keep_only(rows, cols, keep, c, c_stride);
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, blas(rows), blas(cols), blas(depth), scale,
              a.data, blas(a.stride), b.data, blas(b.stride), keep, c, blas(c_stride));
}

void product_of_transposed(View a, View b, int64_t rows, int64_t cols, int64_t depth, float scale,
                           float keep, float* c, int64_t c_stride) {
  if (rows == 0 || cols == 0) return;
  if (depth == 0) return keep_only(rows, cols, keep, c, c_stride);
  cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, blas(rows), blas(cols), blas(depth), scale,
              a.data, blas(a.stride), b.data, blas(b.stride), keep, c, blas(c_stride));
}

BlasThreads::BlasThreads(int threads) : before_(openblas_get_num_threads()) {
  openblas_set_num_threads(threads);
}
BlasThreads::~BlasThreads() {
  openblas_set_num_threads(before_);
}

TileBuffers::TileBuffers(const FlashbenchProblem& problem)
    : head_dim(problem.head_dim), dtype(problem.dtype), scale(static_cast<float>(problem.scale)) {}

Block::Block(const FlashbenchProblem& problem, TileShape tile, Arena& arena)
    : TileBuffers(problem), shape(clipped(tile, problem)) {
  const auto [Br, Bc, key_shares] = shape;
  q = arena.floats(Br * head_dim);
  k = arena.floats(Bc * head_dim);
  v = arena.floats(Bc * head_dim);
  s = arena.floats(Br * Bc);
  o = arena.floats(Br * head_dim);
  partial = arena.floats(key_shares > 1 ? key_shares * Br * head_dim : 0);
  m = arena.floats(Br);
  l = arena.floats(Br);
  m_new = arena.floats(Br);
  correction = arena.floats(Br);
}

View TileBuffers::load(FlashbenchOperand operand, const Plane& plane, Rows rows, float* buffer) {
  const bool in_place = plane.dtype == FLASHBENCH_FP32 && plane.stride >= head_dim &&
                        plane.stride <= std::numeric_limits<blasint>::max();
  if (!in_place) {
    load_copy(operand, plane, rows, buffer);
    return {buffer, head_dim};
  }
  counts.traffic.read[operand] += static_cast<double>(rows.count * head_dim * 4);
  return {reinterpret_cast<const float*>(plane.row(rows.first)), plane.stride};
}

void TileBuffers::load_copy(FlashbenchOperand operand, const Plane& plane, Rows rows,
                            float* buffer) {
  for (int64_t r = 0; r < rows.count; ++r)
    widen(plane.dtype, plane.row(rows.first + r), buffer + r * head_dim, head_dim);
  counts.traffic.read[operand] +=
      static_cast<double>(rows.count * head_dim * element_bytes(plane.dtype));
}

void TileBuffers::store(FlashbenchOperand operand, const float* buffer, const Plane& plane,
                        Rows rows) {
  for (int64_t r = 0; r < rows.count; ++r)
    narrow(plane.dtype, buffer + r * head_dim, plane.row(rows.first + r), head_dim);
  counts.traffic.written[operand] +=
      static_cast<double>(rows.count * head_dim * element_bytes(plane.dtype));
}

void TileBuffers::load_statistics(const float* from, float* buffer, int64_t rows) {
  std::memcpy(buffer, from, static_cast<size_t>(rows) * sizeof(float));
  counts.traffic.read[FLASHBENCH_STATISTICS] += static_cast<double>(rows * 4);
}

void TileBuffers::store_statistics(const float* buffer, float* to, int64_t rows) {
  if (!to) return;
  std::memcpy(to, buffer, static_cast<size_t>(rows) * sizeof(float));
  counts.traffic.written[FLASHBENCH_STATISTICS] += static_cast<double>(rows * 4);
}

void Block::scores(View queries, View keys, int64_t rows, int64_t cols) {
  product_transposed(queries, keys, rows, cols, head_dim, scale, s, shape.Bc);
  counts.flops += 2.0 * static_cast<double>(rows * cols * head_dim);
}

void Block::accumulate(View values, int64_t rows, int64_t cols) {
  product({s, shape.Bc}, values, rows, head_dim, cols, 1.0f, 1.0f, o, head_dim);
  counts.flops += 2.0 * static_cast<double>(rows * cols * head_dim);
}

void Block::partial_outputs(View values, int64_t rows, int64_t cols) {
  for (int64_t warp = 0; warp < std::max<int64_t>(1, shares(cols)); ++warp) {
    const Rows own = share(warp, cols);
    product({s + own.first, shape.Bc}, {values.data + own.first * values.stride, values.stride},
            rows, head_dim, own.count, 1.0f, 0.0f, partial_of(warp), head_dim);
    counts.flops += 2.0 * static_cast<double>(rows * own.count * head_dim);
  }
}

Rows Block::share(int64_t warp, int64_t cols) const {
  const int64_t width = tile_count(cols, shape.key_shares);
  const int64_t first = std::min(warp * width, cols);
  return {first, std::min(width, cols - first)};
}

int64_t Block::shares(int64_t cols) const {
  return cols == 0 ? 0 : tile_count(cols, tile_count(cols, shape.key_shares));
}

void add(FlashbenchCounts& a, const FlashbenchCounts& b) {
  for (int operand = 0; operand < FLASHBENCH_OPERANDS; ++operand) {
    a.traffic.read[operand] += b.traffic.read[operand];
    a.traffic.written[operand] += b.traffic.written[operand];
  }
  a.exponentials += b.exponentials;
  a.divisions += b.divisions;
  a.corrections += b.corrections;
  a.merges += b.merges;
  a.barriers += b.barriers;
  a.flops += b.flops;
}

}  // namespace flashbench::kernels::cpu
