// The way of one K/V tile: past every Q tile that sees it, of every query head that reads it.
#pragma once

#include "kernels/blocks/backward_arguments.hpp"
#include "kernels/blocks/copy.cuh"

namespace flashbench::kernels {

// Starts copying tile i of a head's matrix.
template <Tile tile, class Element, int rows>
FLASHBENCH_INLINE void fetch_tile(Element (&to)[rows][tile.d], const void* tensor,
                                  const Strides& strides, int end, int b, int h, int i) {
  TileStream<Element, tile, rows> stream(matrix_of<Element>(tensor, strides, b, h), strides.seq, i,
                                         1);
  stream.copy(shared_address(to), end - i * rows);
}

// Starts copying tile `index` of an array of row values, by the warp given.
template <int rows>
FLASHBENCH_INLINE void fetch_rows(float (&to)[rows], const float* values, std::int64_t index,
                                  int by) {
  static_assert(rows <= 128);
  if (warp() == by && lane() < rows / 4)
    copy_async(shared_address(to) + lane() * 16, values + index * rows + lane() * 4);
}

struct QueryStep {
  int head, tile;
};

template <Tile tile>
class QuerySteps {
 public:
  int batch, count;

  // begin: the first Q tile that sees anything.
  FLASHBENCH_INLINE QuerySteps(const BackwardArguments& a, int batch, int kv_head, int begin)
      : batch(batch), args_(a), begin_(begin), first_head_(kv_head * a.heads_per_kv_head) {
    count = a.heads_per_kv_head * max(0, a.q_tiles - begin);
  }
  FLASHBENCH_INLINE QueryStep first() const { return {first_head_, begin_}; }
  FLASHBENCH_INLINE QueryStep after(QueryStep s) const {
    return s.tile + 1 < args_.q_tiles ? QueryStep{s.head, s.tile + 1}
                                      : QueryStep{s.head + 1, begin_};
  }
  // Among all Q tiles of the problem.
  FLASHBENCH_INLINE std::int64_t index(QueryStep s) const {
    return (std::int64_t{batch} * args_.heads + s.head) * args_.q_tiles + s.tile;
  }
  // Of its first row in (B, Hq, Sq).
  FLASHBENCH_INLINE std::int64_t row(QueryStep s) const {
    return (std::int64_t{batch} * args_.heads + s.head) * args_.seq_q + s.tile * tile.br;
  }
  // Starts copying a tile's Q and dO into its stage.
  template <class Shared>
  FLASHBENCH_INLINE void fetch(QueryStep s, int stage, Shared& shared) const {
    const int end = args_.seq_q;
    fetch_tile<tile>(shared.q[stage], args_.q, args_.q_strides, end, batch, s.head, s.tile);
    fetch_tile<tile>(shared.d_o[stage], args_.d_o, args_.d_o_strides, end, batch, s.head, s.tile);
  }

 private:
  const BackwardArguments& args_;
  int begin_, first_head_;
};

}  // namespace flashbench::kernels
