// S = Q K^T and O += P V for one warp, with mma.sync. An operand is either in shared memory, given
// as this lane's address (see copy.cuh), or held in registers.
#pragma once

#include "kernels/blocks/copy.cuh"

namespace flashbench::kernels {

// Where a lane points ldmatrix: rows of an A operand (Q), of a B operand whose rows are its columns
// (K), and of a B operand taken transposed (V). The same lanes serve any 16-row block. An A operand
// taken transposed is pointed at as K is.
template <Tile tile>
FLASHBENCH_INLINE std::uint32_t lane_of_q(int first_row) {
  return swizzled<tile>(first_row + (lane() & 15), lane() >> 4);
}
template <int columns>
FLASHBENCH_INLINE std::uint32_t lane_of_k(int first_row) {
  return swizzled<columns>(first_row + (lane() & 7) + ((lane() >> 4) << 3), (lane() >> 3) & 1);
}
template <Tile tile>
FLASHBENCH_INLINE std::uint32_t lane_of_k(int first_row) {
  return lane_of_k<tile.d>(first_row);
}
template <Tile tile>
FLASHBENCH_INLINE std::uint32_t lane_of_v(int first_row) {
  return swizzled<tile>(first_row + (lane() & 15), lane() >> 4);
}

template <Raise raise>
FLASHBENCH_INLINE float raised(float x) {
  return raise == Raise::in_product ? exp2_approximate(x) : x;
}

// A (16, 16) block of P as an operand, from its exponents; its elements are added to the row sums
// on the way, before they are rounded.
template <class Element, Raise raise>
FLASHBENCH_INLINE void operand_of(std::uint32_t (&a)[4], float (&l)[2], const float (&left)[4],
                                  const float (&right)[4]) {
#pragma unroll
  for (int t = 0; t < 2; ++t) {
    const float p[4] = {raised<raise>(left[2 * t]), raised<raise>(left[2 * t + 1]),
                        raised<raise>(right[2 * t]), raised<raise>(right[2 * t + 1])};
    a[t] = pack<Element>(p[0], p[1]);
    a[t + 2] = pack<Element>(p[2], p[3]);
    l[t] += (p[0] + p[1]) + (p[2] + p[3]);
  }
}

// S = Q K^T, K in shared memory. Each fragment of K serves all row blocks. between(x) is called
// after the products over columns 16 x to 16 x + 15, for what else is to be done in their time.
template <class Element, Tile tile, int row_blocks, int keys, class Between>
FLASHBENCH_INLINE void multiply_qk(Fragment<row_blocks, keys>& s, std::uint32_t q, std::uint32_t k,
                                   Between between) {
  fill(s, 0);
#pragma unroll
  for (int x = 0; x < tile.d / 16; ++x) {
    std::uint32_t a[row_blocks][4];
#pragma unroll
    for (int i = 0; i < row_blocks; ++i) load_matrices(a[i], (q ^ (x * 32)) + i * 16 * tile.d * 2);
#pragma unroll
    for (int n = 0; n < keys / 16; ++n) {
      std::uint32_t b[4];
      load_matrices(b, (k ^ (x * 32)) + n * 16 * tile.d * 2);
#pragma unroll
      for (int i = 0; i < row_blocks; ++i) {
        multiply_add<Element>(s.x[i][2 * n], a[i], b[0], b[1]);
        multiply_add<Element>(s.x[i][2 * n + 1], a[i], b[2], b[3]);
      }
    }
    between(x);
  }
}
template <class Element, Tile tile, int row_blocks, int keys>
FLASHBENCH_INLINE void multiply_qk(Fragment<row_blocks, keys>& s, std::uint32_t q,
                                   std::uint32_t k) {
  multiply_qk<Element, tile>(s, q, k, [](int) {});
}

// (O, l) += P (V, 1), V in shared memory. l receives this thread's share.
template <class Element, Tile tile, int row_blocks, int keys>
FLASHBENCH_INLINE void multiply_pv(Fragment<row_blocks, tile.d>& o, Rows<row_blocks>& l,
                                   const Fragment<row_blocks, keys>& p, std::uint32_t v) {
#pragma unroll
  for (int x = 0; x < keys / 16; ++x) {
    std::uint32_t a[row_blocks][4];
#pragma unroll
    for (int i = 0; i < row_blocks; ++i)
      operand_of<Element, tile.raise>(a[i], l.x[i], p.x[i][2 * x], p.x[i][2 * x + 1]);
#pragma unroll
    for (int n = 0; n < tile.d / 16; ++n) {
      std::uint32_t b[4];
      load_matrices_transposed(b, (v ^ (n * 32)) + x * 16 * tile.d * 2);
#pragma unroll
      for (int i = 0; i < row_blocks; ++i) {
        multiply_add<Element>(o.x[i][2 * n], a[i], b[0], b[1]);
        multiply_add<Element>(o.x[i][2 * n + 1], a[i], b[2], b[3]);
      }
    }
  }
}

// O += P V, P rounded already.
template <class Element, Tile tile, int row_blocks, int keys>
FLASHBENCH_INLINE void multiply_pv(Fragment<row_blocks, tile.d>& o,
                                   const Rounded<row_blocks, keys>& p, std::uint32_t v) {
#pragma unroll
  for (int x = 0; x < keys / 16; ++x)
#pragma unroll
    for (int n = 0; n < tile.d / 16; ++n) {
      std::uint32_t b[4];
      load_matrices_transposed(b, (v ^ (n * 32)) + x * 16 * tile.d * 2);
#pragma unroll
      for (int i = 0; i < row_blocks; ++i) {
        const std::uint32_t a[4] = {p.x[i][2 * x][0], p.x[i][2 * x][1], p.x[i][2 * x + 1][0],
                                    p.x[i][2 * x + 1][1]};
        multiply_add<Element>(o.x[i][2 * n], a, b[0], b[1]);
        multiply_add<Element>(o.x[i][2 * n + 1], a, b[2], b[3]);
      }
    }
}

// A warp's share of K and V in registers: as often as they are used, they are read once.
template <Tile tile, int keys>
struct HeldOperands {
  std::uint32_t k[tile.d / 16][keys / 16][4];
  std::uint32_t v[keys / 16][tile.d / 16][4];

  FLASHBENCH_INLINE void load(std::uint32_t k_lane, std::uint32_t v_lane) {
#pragma unroll
    for (int n = 0; n < keys / 16; ++n)
#pragma unroll
      for (int x = 0; x < tile.d / 16; ++x) {
        load_matrices(k[x][n], (k_lane ^ (x * 32)) + n * 16 * tile.d * 2);
        load_matrices_transposed(v[n][x], (v_lane ^ (x * 32)) + n * 16 * tile.d * 2);
      }
  }
};

template <class Element, Tile tile, int row_blocks, int keys>
FLASHBENCH_INLINE void multiply_qk(Fragment<row_blocks, keys>& s, std::uint32_t q,
                                   const HeldOperands<tile, keys>& held) {
  fill(s, 0);
#pragma unroll
  for (int x = 0; x < tile.d / 16; ++x)
#pragma unroll
    for (int i = 0; i < row_blocks; ++i) {
      std::uint32_t a[4];
      load_matrices(a, (q ^ (x * 32)) + i * 16 * tile.d * 2);
#pragma unroll
      for (int n = 0; n < keys / 16; ++n) {
        multiply_add<Element>(s.x[i][2 * n], a, held.k[x][n][0], held.k[x][n][1]);
        multiply_add<Element>(s.x[i][2 * n + 1], a, held.k[x][n][2], held.k[x][n][3]);
      }
    }
}

// One 16-row block, and the columns of O from `first` on: (O, l) = P (V, 1).
template <class Element, Tile tile, int keys, int columns>
FLASHBENCH_INLINE void multiply_pv(Fragment<1, columns>& o, Rows<1>& l,
                                   const float (&p)[keys / 8][4],
                                   const HeldOperands<tile, keys>& held, int first) {
  fill(o, 0);
  fill(l, 0);
#pragma unroll
  for (int x = 0; x < keys / 16; ++x) {
    std::uint32_t a[4];
    operand_of<Element, tile.raise>(a, l.x[0], p[2 * x], p[2 * x + 1]);
#pragma unroll
    for (int n = 0; n < columns / 16; ++n) {
      const std::uint32_t(&v)[4] = held.v[x][first / 16 + n];
      multiply_add<Element>(o.x[0][2 * n], a, v[0], v[1]);
      multiply_add<Element>(o.x[0][2 * n + 1], a, v[2], v[3]);
    }
  }
}

}  // namespace flashbench::kernels
