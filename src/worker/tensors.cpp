#include "worker/tensors.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <stdexcept>
#include <tuple>

#include "worker/dtype.hpp"
#include "worker/parallel.hpp"

namespace flashbench {

void require_valid(const Problem& problem) {
  for (const auto& [field, value, least] :
       {std::tuple{"batch", problem.batch, 1}, std::tuple{"heads", problem.heads, 1},
        std::tuple{"kv_heads", problem.kv_heads, 1}, std::tuple{"seq_q", problem.seq_q, 0},
        std::tuple{"seq_k", problem.seq_k, 0}, std::tuple{"head_dim", problem.head_dim, 1}})
    if (value < least)
      throw std::runtime_error(
          fmt::format("{} is {} and must be at least {}", field, value, least));
  if (problem.heads % problem.kv_heads != 0)
    throw std::runtime_error(
        fmt::format("kv_heads {} does not divide heads {}", problem.kv_heads, problem.heads));
  if (!std::isfinite(problem.scale)) throw std::runtime_error("the scale is not a finite number");
}

Shape shape_of(const Problem& problem, Tensor tensor) {
  const bool keys =
      tensor == Tensor::k || tensor == Tensor::v || tensor == Tensor::dk || tensor == Tensor::dv;
  return {problem.batch, keys ? problem.seq_k : problem.seq_q,
          keys ? problem.kv_heads : problem.heads, problem.head_dim};
}

std::int64_t bytes_of(const Problem& problem, Tensor tensor) {
  return shape_of(problem, tensor).elements() * bytes_of(problem.dtype);
}

std::int64_t statistic_bytes(const Problem& problem) {
  return problem.batch * problem.heads * problem.seq_q * 4;
}

FlashbenchTensor view_of(const Problem& problem, Tensor tensor, void* data) {
  const Shape shape = shape_of(problem, tensor);
  const std::int64_t batch = shape.seq * shape.heads * shape.dim;
  if (problem.layout == Layout::bshd) return {data, batch, shape.heads * shape.dim, shape.dim};
  return {data, batch, shape.dim, shape.seq * shape.dim};
}

std::int64_t logical_row(const Shape& shape, Layout layout, std::int64_t row) {
  if (layout == Layout::bshd) return row;
  const std::int64_t s = row % shape.seq;
  const std::int64_t h = row / shape.seq % shape.heads;
  const std::int64_t b = row / shape.seq / shape.heads;
  return (b * shape.seq + s) * shape.heads + h;
}

void to_logical(const Shape& shape, Layout layout, const std::byte* from, std::byte* to,
                std::int64_t row_bytes) {
  constexpr std::int64_t piece = 1024;
  const std::int64_t rows = shape.rows();
  parallel_for((rows + piece - 1) / piece, [&](std::int64_t i) {
    for (std::int64_t row = i * piece; row < std::min(rows, (i + 1) * piece); ++row)
      std::memcpy(to + logical_row(shape, layout, row) * row_bytes, from + row * row_bytes,
                  static_cast<std::size_t>(row_bytes));
  });
}

}  // namespace flashbench
