// FlashAttention-2 forward, and every rung of the ladder whose outer loop runs over Q.
//
//   for Q tile i:  O = 0, m = -inf, l = 0
//     for K/V tile j, the masked ones first:
//       S = Q_i K_j^T;  m' = max(m, rowmax S);  P = exp(S - m')
//       O = O e^(m - m') + P V_j;  l = l e^(m - m') + rowsum P
//     O_i = O / l;  LSE_i = m + ln l
//
// HBM: Q, K, V are read, O and the statistics written once a Q tile. Shared memory: one Q tile, and
// `stages` tiles each of K and V. Registers: S, O, m, l. Its neighbour flash_v1 walks the same
// tiles the other way round and carries O, m and l through HBM.
#pragma once

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

template <class Kernel>
__global__ void __launch_bounds__(Kernel::tile.threads(), Kernel::tile.blocks)
    forward_q_outer(const __grid_constant__ ForwardArguments args) {
  using Element = typename Kernel::Element;
  constexpr Tile tile = Kernel::tile;
  constexpr Rung rung = Kernel::rung;
  extern __shared__ __align__(1024) unsigned char memory[];
  auto& shared = *reinterpret_cast<QOuterShared<Kernel>*>(memory);
  using Warps = WarpSplit<Element, tile, rung.split>;
  const Warps warps(shared.exchange);
  const QTiles<tile, rung.grid> q_tiles(args);
  const Head<Element> head(args, q_tiles.batch_head);
  const Visible<tile, rung.causal> visible(args);
  const Softmax<rung.normalize> softmax(args);
  const RowStats<rung.saved> stats{args};

  for (int i = q_tiles.begin; i < q_tiles.end; ++i) {
    const int first = i * tile.br, kv_tiles = visible.kv_end(i), last = kv_tiles - 1;
    TileStream<Element, tile, tile.br> q(head.q, args.q_strides.seq, i, 1);
    TileStream<Element, tile, tile.bc> k(head.k, args.k_strides.seq, last, -1);
    TileStream<Element, tile, tile.bc> v(head.v, args.v_strides.seq, last, -1);
    q.copy(shared_address(shared.q), args.seq_q - first);              // (Br, d)
    k.copy(shared_address(shared.k[0]), args.seq_k - last * tile.bc);  // (Bc, d)
    v.copy(shared_address(shared.v[0]), args.seq_k - last * tile.bc);  // (Bc, d)
    commit_copies();
    auto fetch = [&](int n) {  // the n-th tile from the end; only the last one can be partial
      if (n < kv_tiles) {
        k.copy(shared_address(shared.k[n % tile.stages]));
        v.copy(shared_address(shared.v[n % tile.stages]));
      }
      commit_copies();
    };
#pragma unroll
    for (int n = 1; n < tile.stages - 1; ++n) fetch(n);

    typename Warps::Output o;  // (Br, d)
    typename Warps::Row m, l;  // (Br)
    fill(o, 0), fill(m, -INFINITY), fill(l, 0);
    for (int n = 0, j = last; n < kv_tiles; ++n, --j) {
      await_tiles<tile.stages - 2>();
      fetch(n + tile.stages - 1);
      typename Warps::Scores s;  // (Br, Bc)
      typename Warps::Operands kv;
      warps.take(kv, shared_address(shared.k[n % tile.stages]),
                 shared_address(shared.v[n % tile.stages]));
      warps.scores(s, shared_address(shared.q), kv);
      softmax.orient(s);
      visible.mask(warps, s, i, j);
      softmax.step(warps, s, m, l, o);
      warps.accumulate(o, l, s, kv);
      softmax.settle(warps, o, l);
    }
    softmax.finish(warps, o, l);
    warps.store(o, shared_address(shared.q), head.o, args.o_strides.seq, first, args.seq_q);
    stats.save(warps, head.rows, first, m, l);
    __syncthreads();  // the next Q tile overwrites this one
  }
}

}  // namespace flashbench::kernels
