// dQ = scale dS K for one Q tile and one K/V tile: every warp takes 32 queries by 32 columns of it,
// over all keys of the tile. The sums over K/V tiles are fp32 in HBM, fragment by fragment, so that
// a warp's floats lie side by side.
#pragma once

#include "kernels/blocks/backward_arguments.hpp"
#include "kernels/blocks/product.cuh"

namespace flashbench::kernels {

template <class Element, Tile tile>
struct QueryGradient {
  static constexpr int rows = 32, columns = 32;
  static_assert(tile.br / rows * (tile.d / columns) == tile.warps);
  using Part = Fragment<rows / 16, columns>;
  int first_row = warp() % (tile.br / rows) * rows;
  int first_column = warp() / (tile.br / rows) * columns;

  // From dS^T in shared.ds[buffer] and K in shared.k.
  template <class Shared>
  FLASHBENCH_INLINE Part product(Shared& shared, int buffer) const {
    Part dq;
    fill(dq, 0);
    const std::uint32_t ds =
        (shared_address(shared.ds[buffer]) + lane_of_k<tile.br>(0)) ^ (first_row * 2);
    const std::uint32_t k = (shared_address(shared.k) + lane_of_v<tile>(0)) ^ (first_column * 2);
#pragma unroll
    for (int x = 0; x < tile.bc / 16; ++x) {
      std::uint32_t a[2][4];
#pragma unroll
      for (int i = 0; i < 2; ++i)
        load_matrices_transposed(a[i], (ds ^ (i * 32)) + x * 16 * tile.br * 2);
#pragma unroll
      for (int n = 0; n < 2; ++n) {
        std::uint32_t b[4];
        load_matrices_transposed(b, (k ^ (n * 32)) + x * 16 * tile.d * 2);
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          multiply_add<Element>(dq.x[i][2 * n], a[i], b[0], b[1]);
          multiply_add<Element>(dq.x[i][2 * n + 1], a[i], b[2], b[3]);
        }
      }
    }
    return dq;
  }

  // sums: (Q tiles, Br, d); index: of the Q tile.
  FLASHBENCH_INLINE void add_atomically(const Part& dq, float* sums, std::int64_t index) const {
    each(sums, index,
         [&](int i, int n, float* at) { kernels::add_atomically(at, lane(), dq.x[i][n]); });
  }
  FLASHBENCH_INLINE void save(const Part& dq, float* sums, std::int64_t index) const {
    each(sums, index, [&](int i, int n, float* at) { store_floats(at, lane(), dq.x[i][n]); });
  }
  FLASHBENCH_INLINE void add_saved(Part& dq, float* sums, std::int64_t index) const {
    each(sums, index, [&](int i, int n, const float* at) {
      const float4 x = load_floats(at, lane());
      dq.x[i][n][0] += x.x, dq.x[i][n][1] += x.y, dq.x[i][n][2] += x.z, dq.x[i][n][3] += x.w;
    });
  }
  // Into dQ, (Sq, d). first: the tile's first row.
  FLASHBENCH_INLINE void store(Part dq, float scale, Element* matrix, std::int64_t seq_stride,
                               int first, int end) const {
    multiply(dq, scale);
    store_columns(dq, matrix + first_column, seq_stride, first + first_row, end);
  }

 private:
  // Calls f(row block, column block, where this warp keeps it).
  template <class F>
  FLASHBENCH_INLINE static void each(float* sums, std::int64_t index, F f) {
    float* own = sums + index * (tile.br * tile.d) + warp() * (rows * columns);
#pragma unroll
    for (int i = 0; i < rows / 16; ++i)
#pragma unroll
      for (int n = 0; n < columns / 8; ++n) f(i, n, own + (i * (columns / 8) + n) * 128);
  }
};

}  // namespace flashbench::kernels
