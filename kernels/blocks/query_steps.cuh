// The way of a backward block: over its K/V tiles, and with each past every Q tile that sees it, of
// every query head that reads it.
#pragma once

#include "kernels/blocks/backward_arguments.hpp"
#include "kernels/blocks/copy.cuh"
#include "kernels/ladder/rung.hpp"

namespace flashbench::kernels {

// Starts copying tile i of a head's matrix.
template <Tile tile, class Element, int rows>
FLASHBENCH_INLINE void fetch_tile(Element (&to)[rows][tile.d], const void* tensor,
                                  const Strides& strides, int end, int b, int h, int i) {
  TileStream<Element, tile, rows> stream(matrix_of<Element>(tensor, strides, b, h), strides.seq, i,
                                         1);
  stream.copy(shared_address(to), end - i * rows);
}

// The K/V tiles of this block, of one head: `each` calls f with one after the other.
template <Grid grid>
struct KvTiles;

template <>
struct KvTiles<Grid::kv_tiles> {
  int batch, kv_head, tile;
  FLASHBENCH_INLINE explicit KvTiles(const BackwardArguments& a) {
    const int head = blockIdx.x / a.kv_tiles;
    batch = head / a.kv_heads, kv_head = head % a.kv_heads, tile = blockIdx.x % a.kv_tiles;
  }
  template <class F>
  FLASHBENCH_INLINE void each(F f) const {
    f(tile);
  }
};

// All of them. Where there are no keys one is visited all the same: dQ gets its zeros there.
template <>
struct KvTiles<Grid::heads> {
  int batch, kv_head, tiles;
  FLASHBENCH_INLINE explicit KvTiles(const BackwardArguments& a)
      : batch(blockIdx.x / a.kv_heads),
        kv_head(blockIdx.x % a.kv_heads),
        tiles(max(1, a.kv_tiles)) {}
  template <class F>
  FLASHBENCH_INLINE void each(F f) const {
    for (int j = 0; j < tiles; ++j) {
      __syncthreads();  // every warp is done with the tile before
      f(j);
    }
  }
};

// The Q tile of a block that has one.
struct QueryTile {
  std::int64_t index = blockIdx.x;  // among all of them
  int batch, head, tile;

  FLASHBENCH_INLINE explicit QueryTile(const BackwardArguments& a) {
    const int batch_head = blockIdx.x / a.q_tiles;
    batch = batch_head / a.heads, head = batch_head % a.heads, tile = blockIdx.x % a.q_tiles;
  }
};

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
