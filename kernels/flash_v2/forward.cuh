// FlashAttention-2 forward, and every rung of the ladder whose outer loop runs over Q.
//
//   for Q tile i:  O = 0, m = -inf, l = 0
//     for K/V tile j, the masked ones first:
//       S = Q_i K_j^T;  m' = max(m, rowmax S);  P = exp(S - m')
//       O = O e^(m - m') + P V_j;  l = l e^(m - m') + rowsum P
//     O_i = O / l;  LSE_i = m + ln l
//
// HBM: Q, K, V are read, O and the statistics written once a Q tile. Shared memory: one Q tile, and
// two tiles each of K and V: the one in use and the next; Q gives its place to O on its way out.
// Registers: S, O, m, l. A block that walks all Q tiles of a head fetches the beginning of the next
// one during its last step. Its neighbour flash_v1 walks the same tiles the other way round and
// carries O, m and l through HBM.
#pragma once

#include "kernels/blocks/kv_copies.cuh"
#include "kernels/blocks/online_softmax.cuh"
#include "kernels/blocks/row_stats.cuh"
#include "kernels/blocks/visible.cuh"
#include "kernels/blocks/warp_split.cuh"

namespace flashbench::kernels {

template <class Kernel>
struct QOuterShared {
  using Element = typename Kernel::Element;
  static constexpr Tile tile = Kernel::tile;
  Element q[tile.br][tile.d];
  Element k[tile.stages][tile.bc][tile.d], v[tile.stages][tile.bc][tile.d];
  [[no_unique_address]] typename WarpSplit<Element, tile, Kernel::rung.split>::Exchange exchange;
};

// S turns its sign with Q, once a tile of Q and not once a tile of S.
template <int rows, int d, class Element>
FLASHBENCH_INLINE void turn_sign(Element (&q)[rows][d], float sign) {
  if (sign == 1) return;
  await_tiles<0>();
  for (int at = threadIdx.x; at < rows * d; at += blockDim.x) {
    Element& x = q[at / d][at % d];
    x = Element(static_cast<float>(x) * sign);
  }
  __syncthreads();
}

template <class Kernel>
__global__ void __launch_bounds__(Kernel::tile.threads(), Kernel::tile.blocks)
    forward_q_outer(const __grid_constant__ ForwardArguments args) {
  using Element = typename Kernel::Element;
  constexpr Tile tile = Kernel::tile;
  constexpr Rung rung = Kernel::rung;
  constexpr bool one_tile = rung.grid == Grid::q_tiles;  // of Q a block
  static_assert(tile.stages == 2, "one tile of K and V is used while the next one comes");
  extern __shared__ __align__(1024) unsigned char memory[];
  auto& shared = *reinterpret_cast<QOuterShared<Kernel>*>(memory);
  using Warps = WarpSplit<Element, tile, rung.split>;
  const Warps warps(shared.exchange);
  const QTiles<rung.grid> q_tiles(args);
  const Visible<tile, rung.causal> visible(args);
  const Softmax<rung.normalize> softmax(args);
  const RowStats<rung.saved> stats{args};

  int stage = 0;  // of K and V
  KvCopies<Element, tile> kv_copies(args);
  auto fetch_q = [&](QTile at) {
    const Head<Element> head(args, at.batch_head);
    TileStream<Element, tile, tile.br, 4> q(head.q, args.q_strides.seq, at.tile, 1);
    q.copy(shared_address(shared.q), args.seq_q - at.tile * tile.br);  // (Br, d)
  };
  auto fetch_last_kv = [&](QTile at, int stage) {
    const int last = visible.kv_end(at.tile) - 1;
    kv_copies.last(Head<Element>(args, at.batch_head), last, args.seq_k - last * tile.bc,
                   shared_address(shared.k[stage]), shared_address(shared.v[stage]));
  };
  QTile at = q_tiles[0];
  fetch_last_kv(at, stage);
  fetch_q(at);
  commit_copies();

  for (int n = 0; n < q_tiles.count; at = q_tiles[++n]) {
    typename Warps::Output o;  // (Br, d)
    typename Warps::Row m, l;  // (Br)
    fill(o, 0), fill(m, -INFINITY), fill(l, 0);
    turn_sign(shared.q, args.sign);
    bool is_far = true;
    int j = visible.kv_end(at.tile) - 1;
    // The next K and V come `between` the products of Q K^T.
    auto step = [&](auto has_mask, auto between, auto after_scores) {
      await_tiles<0>();
      typename Warps::Scores s;  // (Br, Bc)
      typename Warps::Operands kv;
      warps.take(kv, shared_address(shared.k[stage]), shared_address(shared.v[stage]));
      warps.scores(s, shared_address(shared.q), kv, between);
      after_scores();
      commit_copies();
      if constexpr (has_mask.value) visible.mask(warps, s, at.tile, j);
      softmax.step(warps, s, m, l, o, is_far);
      warps.accumulate(o, l, s, kv);
      softmax.settle(warps, o, l);
      stage ^= 1, --j;
    };
    auto next_kv = [&](int x) {
      kv_copies.next(x, shared_address(shared.k[stage ^ 1]), shared_address(shared.v[stage ^ 1]));
    };
    auto advance = [&] { kv_copies.advance(); };
    auto nothing = [](auto...) {};
    auto steps = [&](auto has_mask, int end) {
#pragma unroll 1
      while (j >= end) step(has_mask, next_kv, advance);
    };
    steps(std::true_type(), max(1, visible.unmasked_end(at.tile)));
    steps(std::false_type(), 1);
    step(std::true_type(), nothing, [&] {
      if (one_tile || n + 1 == q_tiles.count) return;
      __syncthreads();  // every warp is done with this tile of Q
      const QTile next = q_tiles[n + 1];
      fetch_last_kv(next, stage ^ 1);
      fetch_q(next);
    });
    const Head<Element> head(args, at.batch_head);
    const int first = at.tile * tile.br;
    softmax.finish(warps, o, l);
    if constexpr (one_tile)
      warps.store(o, shared_address(shared.q), head.o, args.o_strides.seq, first, args.seq_q);
    else
      warps.store(o, head.o, args.o_strides.seq, first, args.seq_q);
    stats.save(warps, head.rows, first, m, l);
  }
}

}  // namespace flashbench::kernels
