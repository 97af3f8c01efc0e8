// Tiles between global and shared memory. A tile of rows of d elements lies in shared memory row by
// row, its 16-byte chunk c of row r at position c ^ (r % 8), so that neither copies nor ldmatrix
// meet a bank conflict, and so that a lane's addresses differ by XOR with a constant.
#pragma once

#include "kernels/blocks/fragments.cuh"
#include "kernels/blocks/tile.hpp"

namespace flashbench::kernels {

template <int columns>
FLASHBENCH_INLINE std::uint32_t swizzled(int row, int chunk) {
  return row * columns * 2 + ((chunk ^ (row & 7)) * 16);
}
template <Tile tile>
FLASHBENCH_INLINE std::uint32_t swizzled(int row, int chunk) {
  return swizzled<tile.d>(row, chunk);
}

// Walks a matrix tile by tile, forwards or backwards. It holds this thread's own pointer into the
// next tile, so that a step costs one addition. `lanes` take a row together: all of it at once, or,
// where they are few, part by part, so that more addresses differ by constants.
template <class Element, Tile tile, int rows, int lanes = tile.d / 8>
class TileStream {
  static constexpr int parts = tile.d / 8 / lanes;  // of a row
  static constexpr int rows_a_pass = tile.threads() / lanes;
  static_assert(rows_a_pass % 8 == 0 && lanes % 4 == 0);

 public:
  static constexpr int passes = (rows + rows_a_pass - 1) / rows_a_pass;
  static_assert(rows % rows_a_pass == 0 || passes == 1);

  // direction: 1 or -1, tiles.
  FLASHBENCH_INLINE TileStream(std::int64_t seq_stride, int direction)
      : seq_stride_(seq_stride),
        step_(direction * rows * seq_stride),
        row_(threadIdx.x / lanes),
        slot_(swizzled<tile>(row_, threadIdx.x % lanes)) {}
  FLASHBENCH_INLINE TileStream(const Element* matrix, std::int64_t seq_stride, int first_tile,
                               int direction)
      : TileStream(seq_stride, direction) {
    seek(matrix, first_tile);
  }

  // The next tile is to be this one.
  FLASHBENCH_INLINE void seek(const Element* matrix, int tile_index) {
    next_ =
        matrix + (std::int64_t{tile_index} * rows + row_) * seq_stride_ + threadIdx.x % lanes * 8;
  }

  // The next tile, whole.
  FLASHBENCH_INLINE void copy(std::uint32_t shared) {
#pragma unroll
    for (int pass = 0; pass < passes; ++pass) copy_pass(shared, pass);
    advance();
  }
  // The same in pieces: every pass, then `advance`.
  FLASHBENCH_INLINE void copy_pass(std::uint32_t shared, int pass) const {
    each_part(shared, pass, [](std::uint32_t to, const Element* from) { copy_async(to, from); });
  }
  FLASHBENCH_INLINE void advance() {
    next_ += step_;
  }

  // The next tile, of which only the first `present` rows exist; the others become zero.
  FLASHBENCH_INLINE void copy(std::uint32_t shared, int present) {
#pragma unroll
    for (int pass = 0; pass < passes; ++pass) {
      const bool is_present = row_ + pass * rows_a_pass < present;
      each_part(shared, pass,
                [&](std::uint32_t to, const Element* from) { copy_async(to, from, is_present); });
    }
    advance();
  }

 private:
  template <class F>
  FLASHBENCH_INLINE void each_part(std::uint32_t shared, int pass, F f) const {
    if (rows < rows_a_pass && row_ >= rows) return;
#pragma unroll
    for (int part = 0; part < parts; ++part) {
      const int chunk = part * lanes;  // its lower three bits are swizzled
      f(((shared + slot_) ^ (chunk % 8 * 16)) + chunk / 8 * 128 + pass * rows_a_pass * tile.d * 2,
        next_ + pass * rows_a_pass * seq_stride_ + chunk * 8);
    }
  }

  const Element* next_ = nullptr;
  std::int64_t seq_stride_, step_;
  int row_;
  std::uint32_t slot_;
};

// Starts copying tile `index` of an array of row values, by the warp given.
template <int rows>
FLASHBENCH_INLINE void fetch_rows(float (&to)[rows], const float* values, std::int64_t index,
                                  int by) {
  static_assert(rows <= 128);
  if (warp() == by && lane() < rows / 4)
    copy_async(shared_address(to) + lane() * 16, values + index * rows + lane() * 4);
}

// Until at most `pending` groups of copies are under way, for the whole block.
template <int pending>
FLASHBENCH_INLINE void await_tiles() {
  wait_copies<pending>();
  __syncthreads();
}

// A head's matrix within a tensor.
template <class Element, class Data>
FLASHBENCH_INLINE auto* matrix_of(Data* tensor, const Strides& strides, int b, int h) {
  using Same = std::conditional_t<std::is_const_v<Data>, const Element, Element>;
  return static_cast<Same*>(tensor) + b * strides.batch + h * strides.head;
}

// This block's (batch, head): where its matrices begin.
template <class Element>
struct Head {
  const Element *q, *k, *v;
  Element* o;
  std::int64_t rows;  // index of its first row in (B, Hq, Sq)

  FLASHBENCH_INLINE Head(const ForwardArguments& a, int batch_head) {
    const int b = a.heads.quotient(batch_head), h = batch_head - b * a.heads.by,
              kv = a.heads_per_kv_head.quotient(h);
    q = static_cast<const Element*>(a.q) + b * a.q_strides.batch + h * a.q_strides.head;
    k = static_cast<const Element*>(a.k) + b * a.k_strides.batch + kv * a.k_strides.head;
    v = static_cast<const Element*>(a.v) + b * a.v_strides.batch + kv * a.v_strides.head;
    o = static_cast<Element*>(a.o) + b * a.o_strides.batch + h * a.o_strides.head;
    rows = std::int64_t{batch_head} * a.seq_q;
  }
};

// Calls f(row, block, half) for this thread's rows below `end`; `first` is the warps' first row.
template <int row_blocks, class F>
FLASHBENCH_INLINE void for_rows(int first, int end, F f) {
#pragma unroll
  for (int i = 0; i < row_blocks; ++i)
#pragma unroll
    for (int t = 0; t < 2; ++t) {
      const int row = first + i * 16 + lane_row() + t * 8;
      if (row < end) f(row, i, t);
    }
}

// Of a 4 x 4 matrix of words, a row a lane of four neighbours: the columns.
FLASHBENCH_INLINE void transpose_quad(std::uint32_t (&x)[4]) {
#pragma unroll
  for (int step = 1; step <= 2; step *= 2) {
    const bool upper = lane() & step;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      std::uint32_t &low = x[step == 1 ? 2 * i : i], &high = x[step == 1 ? 2 * i + 1 : i + 2];
      const std::uint32_t other = __shfl_xor_sync(every_lane, upper ? low : high, step);
      (upper ? low : high) = other;
    }
  }
}

// A warp's own columns of O, straight from registers: 16 bytes a lane, where 32 columns lie
// together.
template <class Element, int row_blocks, int columns>
FLASHBENCH_INLINE void store_columns(const Fragment<row_blocks, columns>& o, Element* matrix,
                                     std::int64_t seq_stride, int first, int end) {
  constexpr int together = columns % 32 == 0 ? 4 : 1;  // words a lane
#pragma unroll
  for (int i = 0; i < row_blocks; ++i)
#pragma unroll
    for (int t = 0; t < 2; ++t) {
      const int row = first + i * 16 + lane_row() + t * 8;
      auto* out =
          reinterpret_cast<std::uint32_t*>(matrix + row * seq_stride) + lane() % 4 * together;
#pragma unroll
      for (int n = 0; n < columns / 8; n += together) {
        std::uint32_t words[together];
#pragma unroll
        for (int x = 0; x < together; ++x)
          words[x] = pack<Element>(o.x[i][n + x][2 * t], o.x[i][n + x][2 * t + 1]);
        if constexpr (together == 4) {
          transpose_quad(words);
          if (row < end)
            *reinterpret_cast<uint4*>(out + n * 4) =
                make_uint4(words[0], words[1], words[2], words[3]);
        } else if (row < end) {
          out[n * 4] = words[0];
        }
      }
    }
}

// The same of all columns, through a warp's own 16 rows of shared memory, so that a row is written
// whole.
template <class Element, int row_blocks, int columns>
FLASHBENCH_INLINE void store_rows(const Fragment<row_blocks, columns>& o, std::uint32_t staging,
                                  Element* matrix, std::int64_t seq_stride, int first, int end) {
  constexpr int lanes = columns / 8, rows_at_once = 32 / lanes;
  const std::uint32_t own = staging + swizzled<columns>(lane() & 15, lane() >> 4);
  const int chunk = lane() % lanes;
#pragma unroll
  for (int i = 0; i < row_blocks; ++i) {
#pragma unroll
    for (int n = 0; n < columns / 8; n += 2) {
      const float(&left)[4] = o.x[i][n], (&right)[4] = o.x[i][n + 1];
      const std::uint32_t words[4] = {
          pack<Element>(left[0], left[1]), pack<Element>(left[2], left[3]),
          pack<Element>(right[0], right[1]), pack<Element>(right[2], right[3])};
      store_matrices(own ^ (n * 16), words);
    }
    __syncwarp();
#pragma unroll
    for (int r = 0; r < 16; r += rows_at_once) {
      const int row = r + lane() / lanes;
      const uint4 words = load_shared(staging + swizzled<columns>(row, chunk));
      store_global(matrix + (first + i * 16 + row) * seq_stride + chunk * 8, words,
                   first + i * 16 + row < end);
    }
    __syncwarp();
  }
}

}  // namespace flashbench::kernels
