// P once more, from S and what the forward saved of each row. Rows are columns here: the backward
// works on S^T. P is at most 1 by definition, and kept so where rounding would have it otherwise.
// exp(S - m) may be more than that: a forward that seldom rescales saves an m that is not quite the
// largest S, and the l that belongs to it. A row that sees no key, or does not exist, has a
// logarithm of +inf, and P = 0.
#pragma once

#include "kernels/blocks/backward_arguments.hpp"
#include "kernels/blocks/copy.cuh"
#include "kernels/ladder/rung.hpp"

namespace flashbench::kernels {

// exp(S - LSE) in units of log2.
FLASHBENCH_INLINE float weight(float s, float scale_log2, float lse) {
  return exp2_approximate(fminf(fmaf(s, scale_log2, -lse), 0));
}

// What `weigh` needs to know of a tile's rows. A row's Value is made of what the forward saved
// (`of`) and put into its place here or, by a kernel that runs beforehand, into the workspace
// (`keep`), from where `fetch` starts copying a whole tile.
template <Saved saved, int rows>
struct SavedRows;

// P = exp(S - LSE).
template <int rows>
struct SavedRows<Saved::log_sum_exp, rows> {
  float lse[rows];  // times log2(e)
  using Value = float;

  // Of a row of (B, Hq, Sq), if it exists.
  FLASHBENCH_INLINE static Value of(const BackwardArguments& a, std::int64_t row, bool exists) {
    if (!exists) return INFINITY;
    const float m = a.lse ? a.lse[row] : a.m[row];
    if (m == -INFINITY) return INFINITY;
    return a.lse ? m * log2_e : fmaf(m, log2_e, log2f(a.l[row]));
  }
  FLASHBENCH_INLINE void put(int i, Value value) { lse[i] = value; }
  // row: of (B, Hq, q_tiles * Br).
  FLASHBENCH_INLINE static void keep(const BackwardArguments& a, std::int64_t row, Value value) {
    a.row_lse[row] = value;
  }
  // index: of a Q tile among all of them.
  FLASHBENCH_INLINE void fetch(const BackwardArguments& a, std::int64_t index) {
    fetch_rows<rows>(lse, a.row_lse, index, 0);
  }

  template <int row_blocks>
  FLASHBENCH_INLINE void weigh(Fragment<row_blocks, rows>& s, float scale_log2) const {
#pragma unroll
    for (int n = 0; n < rows / 8; ++n) {
      const float2 row = *reinterpret_cast<const float2*>(&lse[n * 8 + lane_column()]);
#pragma unroll
      for (int i = 0; i < row_blocks; ++i)
#pragma unroll
        for (int t = 0; t < 4; ++t)
          s.x[i][n][t] = weight(s.x[i][n][t], scale_log2, t % 2 ? row.y : row.x);
    }
  }
};

// P = exp(S - m) / l.
template <int rows>
struct SavedRows<Saved::m_and_l, rows> {
  float m[rows], inverse_l[rows];  // m times log2(e)
  struct Value {
    float m, inverse_l;
  };

  FLASHBENCH_INLINE static Value of(const BackwardArguments& a, std::int64_t row, bool exists) {
    const float largest = !exists ? -INFINITY : a.lse ? a.lse[row] : a.m[row];
    if (largest == -INFINITY) return {INFINITY, 1};
    return {largest * log2_e, a.lse ? 1 : 1 / a.l[row]};
  }
  FLASHBENCH_INLINE void put(int i, Value value) { m[i] = value.m, inverse_l[i] = value.inverse_l; }
  FLASHBENCH_INLINE static void keep(const BackwardArguments& a, std::int64_t row, Value value) {
    a.row_lse[row] = value.m, a.row_inverse_l[row] = value.inverse_l;
  }
  FLASHBENCH_INLINE void fetch(const BackwardArguments& a, std::int64_t index) {
    fetch_rows<rows>(m, a.row_lse, index, 0);
    fetch_rows<rows>(inverse_l, a.row_inverse_l, index, 2);
  }

  template <int row_blocks>
  FLASHBENCH_INLINE void weigh(Fragment<row_blocks, rows>& s, float scale_log2) const {
#pragma unroll
    for (int n = 0; n < rows / 8; ++n) {
      const float2 row = *reinterpret_cast<const float2*>(&m[n * 8 + lane_column()]);
      const float2 part = *reinterpret_cast<const float2*>(&inverse_l[n * 8 + lane_column()]);
#pragma unroll
      for (int i = 0; i < row_blocks; ++i)
#pragma unroll
        for (int t = 0; t < 4; ++t)
          s.x[i][n][t] =
              fminf(exp2_approximate(fmaf(s.x[i][n][t], scale_log2, -(t % 2 ? row.y : row.x))) *
                        (t % 2 ? part.y : part.x),
                    1);
    }
  }
};

}  // namespace flashbench::kernels
