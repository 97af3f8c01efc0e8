// Shapes, sizes and views of a problem's tensors.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "flashbench/attention.h"
#include "record/problem.hpp"

namespace flashbench {

enum class Tensor { q, k, v, d_o, o, dq, dk, dv };
// The file names of --dump and --load, without .npy, in the enumerators' order.
inline constexpr std::array<std::string_view, 8> tensor_files{"q", "k",  "v",  "do",
                                                              "o", "dq", "dk", "dv"};

// Logical shape (b, s, h, d).
struct Shape {
  std::int64_t batch = 0, seq = 0, heads = 0, dim = 0;
  std::int64_t rows() const { return batch * seq * heads; }
  std::int64_t elements() const { return rows() * dim; }
  std::vector<std::int64_t> list() const { return {batch, seq, heads, dim}; }
};

// Throws std::runtime_error naming the field of a problem that is none.
void require_valid(const Problem&);
Shape shape_of(const Problem&, Tensor);
std::int64_t bytes_of(const Problem&, Tensor);
// Bytes of one row statistic: fp32, (b, h, s).
std::int64_t statistic_bytes(const Problem&);
FlashbenchTensor view_of(const Problem&, Tensor, void* data);
// The row (b * S + s) * H + h that lies at `row` in the layout's order.
std::int64_t logical_row(const Shape&, Layout, std::int64_t row);
// Rows in the layout's order to logical order.
void to_logical(const Shape&, Layout, const std::byte* from, std::byte* to, std::int64_t row_bytes);

}  // namespace flashbench
