// What the warps of a block divide among them: the keys (FlashAttention-1) or the queries
// (FlashAttention-2). Both offer the same phases:
//   take        this warp's share of a K and V tile
//   scores      S = Q K^T
//   row_max     m = max(m, the rows of S); own_max: over this lane's keys alone, and merge_max, the
//               rest of the way
//   accumulate  (O, l) += P (V, 1): a row sum is one more column of the product
//   total       a row sum made whole; share, the reverse
//   store       O into the output tensor; given room for all of it in shared memory, of which a
//   warp
//               uses that of its own rows, by way of it where that pays
// A thread owns the same rows in S, O, m and l under either split.
#pragma once

#include "kernels/blocks/product.cuh"
#include "kernels/ladder/rung.hpp"

namespace flashbench::kernels {

template <class Element, Tile tile, Split split>
struct WarpSplit;

// Each warp has rows of its own and sees all keys of a tile. Nothing is exchanged between warps.
template <class Element, Tile tile>
struct WarpSplit<Element, tile, Split::queries> {
  static constexpr int row_blocks = tile.br / tile.warps / 16;
  static constexpr int keys = tile.bc, columns = tile.d;
  static constexpr Raise raise = tile.raise;
  static constexpr int lanes_a_row = 4;  // among which a row's l lies in shares
  using Scores = Fragment<row_blocks, tile.bc>;
  using Output = Fragment<row_blocks, tile.d>;
  using Row = Rows<row_blocks>;
  struct Exchange {};
  struct Operands {
    std::uint32_t k, v;  // this lane's shared addresses
  };

  int first_row, first_key = 0, first_column = 0;
  bool writes_rows = true;

  FLASHBENCH_INLINE explicit WarpSplit(Exchange&)
      : first_row(warp() * row_blocks * 16),
        q_lane_(lane_of_q<tile>(first_row)),
        k_lane_(lane_of_k<tile>(0)),
        v_lane_(lane_of_v<tile>(0)) {}

  FLASHBENCH_INLINE void take(Operands& kv, std::uint32_t k, std::uint32_t v) const {
    kv = {k + k_lane_, v + v_lane_};
  }
  FLASHBENCH_INLINE void scores(Scores& s, std::uint32_t q, const Operands& kv) const {
    multiply_qk<Element, tile>(s, q + q_lane_, kv.k);
  }
  template <class Between>
  FLASHBENCH_INLINE void scores(Scores& s, std::uint32_t q, const Operands& kv,
                                Between between) const {
    multiply_qk<Element, tile>(s, q + q_lane_, kv.k, between);
  }
  FLASHBENCH_INLINE void row_max(Row& m, const Scores& s) const { quad_max(m, s); }
  FLASHBENCH_INLINE void own_max(Row& m, const Scores& s) const { thread_max(m, s); }
  FLASHBENCH_INLINE void merge_max(Row& m) const { quad_merge(m); }
  FLASHBENCH_INLINE void accumulate(Output& o, Row& l, const Scores& p, const Operands& kv) const {
    multiply_pv<Element, tile>(o, l, p, kv.v);
  }
  FLASHBENCH_INLINE Row total(Row l) const {
    quad_sum(l);
    return l;
  }
  FLASHBENCH_INLINE Row share(Row l) const {
    Row quarter;
    fill(quarter, 0.25f);
    multiply(l, quarter);
    return l;
  }
  FLASHBENCH_INLINE void store(const Output& o, Element* matrix, std::int64_t seq_stride, int first,
                               int end) const {
    store_columns(o, matrix, seq_stride, first + first_row, end);
  }
  FLASHBENCH_INLINE void store(const Output& o, std::uint32_t staging, Element* matrix,
                               std::int64_t seq_stride, int first, int end) const {
    store_rows(o, staging + first_row * tile.d * 2, matrix, seq_stride, first + first_row, end);
  }

 private:
  std::uint32_t q_lane_, k_lane_, v_lane_;
};

// What warps that divide the keys merge through: the row maxima of a tile, and the row sums and
// products of 16 rows at a time. Eight columns of all 16 rows lie together, so that neither side
// meets a bank conflict.
template <Tile tile, int buffers>
struct KeyExchange;

// A buffer is written again only behind a later barrier than the one its readers have passed:
// row_max has one, and every row block has one.
template <Tile tile>
struct KeyExchange<tile, 2> {
  static constexpr int columns_at_once = tile.d;  // of a product in registers
  float maxima[tile.warps][tile.br];
  float sums[2][tile.warps][16];
  float products[2][tile.warps][tile.d / 8][16][8];
  FLASHBENCH_INLINE static void await_readers() {}
};

// Half the memory for a second barrier a row block, and half the registers.
template <Tile tile>
struct KeyExchange<tile, 1> {
  static constexpr int columns_at_once = tile.d / 2;
  float sums[1][tile.warps][16];
  union {
    float maxima[tile.warps][tile.br];
    float products[1][tile.warps][tile.d / 8][16][8];
  };
  FLASHBENCH_INLINE static void await_readers() { __syncthreads(); }
};

// Each warp has keys of its own, held in registers, and sees all rows of a tile. Row maxima and
// products are merged across the warps through shared memory; a warp ends up with some columns of
// O.
template <class Element, Tile tile>
struct WarpSplit<Element, tile, Split::keys> {
  static constexpr int row_blocks = tile.br / 16;
  static constexpr int keys = tile.bc / tile.warps, columns = tile.d / tile.warps;
  static constexpr Raise raise = tile.raise;
  static constexpr int lanes_a_row = 1;  // each knows the row's whole l
  using Scores = Fragment<row_blocks, keys>;
  using Output = Fragment<row_blocks, columns>;
  using Row = Rows<row_blocks>;
  using Operands = HeldOperands<tile, keys>;
  using Exchange = KeyExchange<tile, tile.exchanges>;

  int first_row = 0, first_key, first_column;
  bool writes_rows;

  FLASHBENCH_INLINE explicit WarpSplit(Exchange& exchange)
      : first_key(warp() * keys),
        first_column(warp() * columns),
        writes_rows(warp() == 0),
        exchange_(exchange),
        q_lane_(lane_of_q<tile>(0)),
        k_lane_(lane_of_k<tile>(first_key)),
        v_lane_(lane_of_v<tile>(first_key)) {}

  FLASHBENCH_INLINE void take(Operands& kv, std::uint32_t k, std::uint32_t v) const {
    kv.load(k + k_lane_, v + v_lane_);
  }
  template <class Between>
  FLASHBENCH_INLINE void scores(Scores& s, std::uint32_t q, const Operands& kv,
                                Between between) const {
    static_assert(tile.copies == Copies::at_once);
    between(0);
    scores(s, q, kv);
  }
  FLASHBENCH_INLINE void scores(Scores& s, std::uint32_t q, const Operands& kv) const {
    multiply_qk<Element, tile>(s, q + q_lane_, kv);
  }

  FLASHBENCH_INLINE void row_max(Row& m, const Scores& s) const {
    quad_max(m, s);
    if (lane() % 4 == 0)
      for_rows<row_blocks>(
          0, tile.br, [&](int row, int i, int t) { exchange_.maxima[warp()][row] = m.x[i][t]; });
    __syncthreads();
    for_rows<row_blocks>(0, tile.br, [&](int row, int i, int t) {
#pragma unroll
      for (int w = 0; w < tile.warps; ++w) m.x[i][t] = fmaxf(m.x[i][t], exchange_.maxima[w][row]);
    });
  }

  FLASHBENCH_INLINE void own_max(Row& m, const Scores& s) const {
    row_max(m, s);
  }
  FLASHBENCH_INLINE void merge_max(Row&) const {}

  FLASHBENCH_INLINE void accumulate(Output& o, Row& l, const Scores& p, const Operands& kv) const {
#pragma unroll
    for (int i = 0; i < row_blocks; ++i) {
      Rows<1> sum;
      exchange_.await_readers();
#pragma unroll
      for (int first = 0; first < tile.d; first += Exchange::columns_at_once) {
        Fragment<1, Exchange::columns_at_once> product;  // over this warp's keys
        multiply_pv<Element, tile, keys>(product, sum, p.x[i], kv, first);
        deposit(product, first, i % tile.exchanges);
      }
      quad_sum(sum);
      deposit(sum, i % tile.exchanges);
      __syncthreads();
      collect(o.x[i], l.x[i], i % tile.exchanges);
    }
  }

  FLASHBENCH_INLINE Row total(const Row& l) const {
    return l;
  }
  FLASHBENCH_INLINE Row share(const Row& l) const {
    return l;
  }
  FLASHBENCH_INLINE void store(const Output& o, std::uint32_t, Element* matrix,
                               std::int64_t seq_stride, int first, int end) const {
    store(o, matrix, seq_stride, first, end);
  }
  FLASHBENCH_INLINE void store(const Output& o, Element* matrix, std::int64_t seq_stride, int first,
                               int end) const {
    store_columns(o, matrix + first_column, seq_stride, first, end);
  }

 private:
  FLASHBENCH_INLINE void deposit(const Rows<1>& sum, int buffer) const {
#pragma unroll
    for (int t = 0; t < 2; ++t)
      if (lane() % 4 == 0) exchange_.sums[buffer][warp()][lane_row() + 8 * t] = sum.x[0][t];
  }
  template <int width>
  FLASHBENCH_INLINE void deposit(const Fragment<1, width>& product, int first, int buffer) const {
#pragma unroll
    for (int t = 0; t < 2; ++t)
#pragma unroll
      for (int n = 0; n < width / 8; ++n)
        *reinterpret_cast<float2*>(
            &exchange_.products[buffer][warp()][first / 8 + n][lane_row() + 8 * t][lane_column()]) =
            make_float2(product.x[0][n][2 * t], product.x[0][n][2 * t + 1]);
  }

  FLASHBENCH_INLINE void collect(float (&o)[columns / 8][4], float (&l)[2], int buffer) const {
#pragma unroll
    for (int t = 0; t < 2; ++t) {
      const int row = lane_row() + 8 * t;
#pragma unroll
      for (int w = 0; w < tile.warps; ++w) {
        l[t] += exchange_.sums[buffer][w][row];
#pragma unroll
        for (int n = 0; n < columns / 8; ++n) {
          const float2 x = *reinterpret_cast<const float2*>(
              &exchange_.products[buffer][w][first_column / 8 + n][row][lane_column()]);
          o[n][2 * t] += x.x;
          o[n][2 * t + 1] += x.y;
        }
      }
    }
  }

  Exchange& exchange_;
  std::uint32_t q_lane_, k_lane_, v_lane_;
};

}  // namespace flashbench::kernels
