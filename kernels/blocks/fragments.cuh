// What a thread holds of a tile, in the layout of mma.sync's accumulators: of every 16-row block
// rows lane / 4 and lane / 4 + 8, of every 8 columns the two at 2 * (lane % 4). A thread owns the
// same rows in S, P, O, m and l, whatever the warps divide among them.
#pragma once

#include "kernels/blocks/ptx.cuh"

namespace flashbench::kernels {

template <int row_blocks, int columns>
struct Fragment {
  float x[row_blocks][columns / 8][4];  // [..][..][2 * half + column], half 1: eight rows further
};

// The same rounded to 16 bits, two columns a register: as it stands the left operand of a product.
template <int row_blocks, int columns>
struct Rounded {
  std::uint32_t x[row_blocks][columns / 8][2];  // [..][..][half]
};

template <int row_blocks>
struct Rows {
  float x[row_blocks][2];
};

FLASHBENCH_INLINE int lane() {
  return threadIdx.x & 31;
}
FLASHBENCH_INLINE int warp() {
  return threadIdx.x >> 5;
}
// The first of this lane's rows in a 16-row block, and the first of its columns in eight.
FLASHBENCH_INLINE int lane_row() {
  return lane() >> 2;
}
FLASHBENCH_INLINE int lane_column() {
  return 2 * (lane() & 3);
}

template <int row_blocks, int columns>
FLASHBENCH_INLINE void fill(Fragment<row_blocks, columns>& f, float value) {
#pragma unroll
  for (auto& block : f.x)
#pragma unroll
    for (auto& four : block)
#pragma unroll
      for (float& x : four) x = value;
}

template <int row_blocks>
FLASHBENCH_INLINE void fill(Rows<row_blocks>& rows, float value) {
#pragma unroll
  for (auto& pair : rows.x) pair[0] = pair[1] = value;
}

template <int row_blocks, int columns>
FLASHBENCH_INLINE void multiply_rows(Fragment<row_blocks, columns>& f,
                                     const Rows<row_blocks>& factor) {
#pragma unroll
  for (int i = 0; i < row_blocks; ++i)
#pragma unroll
    for (int n = 0; n < columns / 8; ++n)
#pragma unroll
      for (int t = 0; t < 4; ++t) f.x[i][n][t] *= factor.x[i][t / 2];
}

template <int row_blocks, int columns>
FLASHBENCH_INLINE void multiply(Fragment<row_blocks, columns>& f, float factor) {
#pragma unroll
  for (auto& block : f.x)
#pragma unroll
    for (auto& four : block)
#pragma unroll
      for (float& x : four) x *= factor;
}

template <int row_blocks, int columns>
FLASHBENCH_INLINE void add_to(Fragment<row_blocks, columns>& sum,
                              const Fragment<row_blocks, columns>& f) {
#pragma unroll
  for (int i = 0; i < row_blocks; ++i)
#pragma unroll
    for (int n = 0; n < columns / 8; ++n)
#pragma unroll
      for (int t = 0; t < 4; ++t) sum.x[i][n][t] += f.x[i][n][t];
}

template <int row_blocks>
FLASHBENCH_INLINE void multiply(Rows<row_blocks>& rows, const Rows<row_blocks>& factor) {
#pragma unroll
  for (int i = 0; i < row_blocks; ++i)
#pragma unroll
    for (int t = 0; t < 2; ++t) rows.x[i][t] *= factor.x[i][t];
}

// The four lanes that hold one row agree on its maximum; `rows` enters into it.
template <int row_blocks, int columns>
FLASHBENCH_INLINE void thread_max(Rows<row_blocks>& rows, const Fragment<row_blocks, columns>& s) {
#pragma unroll
  for (int i = 0; i < row_blocks; ++i)
#pragma unroll
    for (int t = 0; t < 2; ++t)
#pragma unroll
      for (int n = 0; n < columns / 8; ++n)
        rows.x[i][t] = fmaxf(rows.x[i][t], fmaxf(s.x[i][n][2 * t], s.x[i][n][2 * t + 1]));
}
template <int row_blocks>
FLASHBENCH_INLINE void quad_merge(Rows<row_blocks>& rows) {
#pragma unroll
  for (auto& pair : rows.x)
#pragma unroll
    for (float& x : pair) {
      x = fmaxf(x, __shfl_xor_sync(every_lane, x, 1));
      x = fmaxf(x, __shfl_xor_sync(every_lane, x, 2));
    }
}
template <int row_blocks, int columns>
FLASHBENCH_INLINE void quad_max(Rows<row_blocks>& rows, const Fragment<row_blocks, columns>& s) {
  thread_max(rows, s);
  quad_merge(rows);
}

// The four lanes that hold one row add up their shares.
template <int row_blocks>
FLASHBENCH_INLINE void quad_sum(Rows<row_blocks>& rows) {
#pragma unroll
  for (auto& pair : rows.x)
#pragma unroll
    for (float& x : pair) {
      x += __shfl_xor_sync(every_lane, x, 1);
      x += __shfl_xor_sync(every_lane, x, 2);
    }
}

}  // namespace flashbench::kernels
