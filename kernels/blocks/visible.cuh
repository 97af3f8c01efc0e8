// Which keys a query sees: those below min(Sk, row + 1 + shift). Full attention is a shift without
// end, a tail of K is the same mask, and so there is no mask among the template parameters.
// Also which Q tiles a block walks.
#pragma once

#include "kernels/blocks/fragments.cuh"
#include "kernels/blocks/tile.hpp"
#include "kernels/ladder/rung.hpp"

namespace flashbench::kernels {

template <Tile tile>
struct Limits {
  int seq_k, shift;

  template <class Arguments>
  FLASHBENCH_INLINE explicit Limits(const Arguments& a) : seq_k(a.seq_k), shift(a.shift) {}

  // The first key that a row does not see.
  FLASHBENCH_INLINE int limit(int row) const { return min(seq_k, max(0, row + 1 + shift)); }
  // The first K/V tile of which some row of Q tile i does not see everything.
  FLASHBENCH_INLINE int unmasked_end(int i) const { return limit(i * tile.br) / tile.bc; }
  // Tiles up to a key. The first tile is always visited: rows without a key get their zeros there.
  FLASHBENCH_INLINE static int tiles_to(int key) { return max(1, (key + tile.bc - 1) / tile.bc); }

  // -inf (in S) or 0 (in P) where a row does not see a key, of Q tile i and K/V tile j.
  template <class Warps>
  FLASHBENCH_INLINE void mask(const Warps& warps, typename Warps::Scores& s, int i, int j,
                              float hidden = -INFINITY) const {
    if (j < unmasked_end(i)) return;
    const int first_key = j * tile.bc + warps.first_key + lane_column();
#pragma unroll
    for (int b = 0; b < Warps::row_blocks; ++b)
#pragma unroll
      for (int t = 0; t < 2; ++t) {
        const int row = i * tile.br + warps.first_row + b * 16 + lane_row() + t * 8;
        const int end = limit(row) - first_key;
#pragma unroll
        for (int n = 0; n < Warps::keys / 8; ++n)
#pragma unroll
          for (int u = 0; u < 2; ++u)
            if (n * 8 + u >= end) s.x[b][n][2 * t + u] = hidden;
      }
  }

  // Zero where a row does not see a key, in P^T of Q tile i and K/V tile j.
  template <int row_blocks>
  FLASHBENCH_INLINE void mask_transposed(Fragment<row_blocks, tile.br>& p, int first_key, int i,
                                         int j) const {
    if (j < unmasked_end(i)) return;
    const int row = i * tile.br + lane_column();
#pragma unroll
    for (int n = 0; n < tile.br / 8; ++n)
#pragma unroll
      for (int u = 0; u < 2; ++u) {
        const int end = limit(row + n * 8 + u) - (j * tile.bc + first_key + lane_row());
#pragma unroll
        for (int b = 0; b < row_blocks; ++b)
#pragma unroll
          for (int t = 0; t < 2; ++t)
            if (b * 16 + t * 8 >= end) p.x[b][n][2 * t + u] = 0;
      }
  }
};

template <Tile tile, Causal causal>
struct Visible;

template <Tile tile>
struct Visible<tile, Causal::visit_all> : Limits<tile> {
  using Limits<tile>::Limits;
  FLASHBENCH_INLINE int kv_end(int) const { return this->tiles_to(this->seq_k); }
  FLASHBENCH_INLINE int q_begin(int) const { return 0; }
};

template <Tile tile>
struct Visible<tile, Causal::skip> : Limits<tile> {
  using Limits<tile>::Limits;
  // One past the last K/V tile that Q tile i sees anything of, and the first Q tile that sees
  // anything of K/V tile j.
  FLASHBENCH_INLINE int kv_end(int i) const {
    return this->tiles_to(this->limit(i * tile.br + tile.br - 1));
  }
  FLASHBENCH_INLINE int q_begin(int j) const {
    return j == 0 ? 0 : max(0, j * tile.bc - this->shift) / tile.br;
  }
};

struct QTile {
  int batch_head, tile;
};

// The Q tiles that a block works through one after the other.
template <Grid grid>
class QTiles;

template <>
class QTiles<Grid::heads> {
 public:
  int count;
  FLASHBENCH_INLINE explicit QTiles(const ForwardArguments& a) : count(a.q_tiles) {}
  FLASHBENCH_INLINE QTile operator[](int n) const { return {static_cast<int>(blockIdx.x), n}; }
};

// One. Some heads take turns; of those, the tiles with the most visible keys come first, so that
// the short ones fill up the end of the grid.
template <>
class QTiles<Grid::q_tiles> {
 public:
  int count = 1;
  FLASHBENCH_INLINE explicit QTiles(const ForwardArguments& a) : a_(a) { hide(count); }
  FLASHBENCH_INLINE QTile operator[](int) const {
    const bool early = blockIdx.x < a_.turns.longer_tiles;
    const Turn& turn = early ? a_.turns.longer : a_.turns.shorter;
    const unsigned from = early ? blockIdx.x : blockIdx.x - a_.turns.longer_tiles;
    const unsigned nth = turn.tiles.quotient(from), rest = from - nth * turn.tiles.by;
    const unsigned tile = turn.heads.quotient(rest), head = rest - tile * turn.heads.by;
    return {static_cast<int>((early ? 0 : a_.turns.longer_heads) + nth * turn.heads.by + head),
            static_cast<int>(a_.q_tiles - 1 - tile)};
  }

 private:
  const ForwardArguments& a_;
};

// Those of a block that visits its Q tiles again and again: a head's, or one.
template <Grid grid>
struct QRange;

template <>
struct QRange<Grid::heads> {
  int batch_head = blockIdx.x, begin = 0, end;
  FLASHBENCH_INLINE explicit QRange(const ForwardArguments& a) : end(a.q_tiles) {}
};

template <>
struct QRange<Grid::q_tiles> {
  int batch_head, begin, end;
  FLASHBENCH_INLINE explicit QRange(const ForwardArguments& a) {
    const QTile only = QTiles<Grid::q_tiles>(a)[0];
    batch_head = only.batch_head, begin = only.tile, end = begin + 1;
  }
};

}  // namespace flashbench::kernels
