// P once more, from S and what the forward saved of each row. Rows are columns here: the backward
// works on S^T. P is at most 1 by definition, and kept so where rounding would have it otherwise. A
// row that sees no key, or does not exist, has a logarithm of +inf, and P = 0.
#pragma once

#include "kernels/blocks/backward_arguments.hpp"
#include "kernels/blocks/fragments.cuh"
#include "kernels/ladder/rung.hpp"

namespace flashbench::kernels {

FLASHBENCH_INLINE float weight(float s, float scale_log2, float logarithm) {
  return exp2_approximate(fminf(fmaf(s, scale_log2, -logarithm), 0));
}

template <Saved saved, int rows>
struct SavedRows;

// P = exp(S - LSE).
template <int rows>
struct SavedRows<Saved::log_sum_exp, rows> {
  float lse[rows];  // times log2(e)

  // Of a row of (B, Hq, Sq).
  FLASHBENCH_INLINE static float of(const BackwardArguments& a, std::int64_t row) {
    const float m = a.lse ? a.lse[row] : a.m[row];
    if (m == -INFINITY) return INFINITY;
    return a.lse ? m * log2_e : fmaf(m, log2_e, log2f(a.l[row]));
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

  // Row i of the tile is row `row` of (B, Hq, Sq), if it exists.
  FLASHBENCH_INLINE void load(const BackwardArguments& a, int i, std::int64_t row, bool exists) {
    const float largest = !exists ? -INFINITY : a.lse ? a.lse[row] : a.m[row];
    m[i] = largest == -INFINITY ? INFINITY : largest * log2_e;
    inverse_l[i] = largest == -INFINITY || a.lse ? 1 : 1 / a.l[row];
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
              weight(s.x[i][n][t], scale_log2, t % 2 ? row.y : row.x) * (t % 2 ? part.y : part.x);
    }
  }
};

}  // namespace flashbench::kernels
