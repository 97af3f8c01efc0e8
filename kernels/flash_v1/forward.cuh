// FlashAttention-1 forward, and every rung of the ladder whose outer loop runs over K and V.
//
//   for K/V tile j:
//     for Q tile i:  O, m, l from HBM
//       S = Q_i K_j^T;  m' = max(m, rowmax S);  P = exp(S - m')
//       O = (O l e^(m - m') + P V_j) / l';  l' = l e^(m - m') + rowsum P
//       O, m, l to HBM
//
// HBM: K and V are read once; Q is read, O (fp32), m and l read and written once a K/V tile. Shared
// memory: one tile each of K and V, until the warps have taken their share; then, in the same
// place, the warps' exchange. A ring of `stages` Q tiles. Registers: S, O, m, l and, where the
// warps divide the keys, K and V. Its neighbour flash_v2 keeps O, m and l in registers instead.
#pragma once

#include "kernels/blocks/online_softmax.cuh"
#include "kernels/blocks/row_stats.cuh"
#include "kernels/blocks/visible.cuh"
#include "kernels/blocks/warp_split.cuh"

namespace flashbench::kernels {

template <class Kernel>
struct KvOuterShared {
  using Element = typename Kernel::Element;
  static constexpr Tile tile = Kernel::tile;
  Element q[tile.stages][tile.br][tile.d];
  union {
    Element kv[2][tile.bc][tile.d];
    typename WarpSplit<Element, tile, Kernel::rung.split>::Exchange exchange;
  };
};

template <class Kernel>
__global__ void __launch_bounds__(Kernel::tile.threads(), Kernel::tile.blocks)
    forward_kv_outer(const __grid_constant__ ForwardArguments args) {
  using Element = typename Kernel::Element;
  constexpr Tile tile = Kernel::tile;
  constexpr Rung rung = Kernel::rung;
  extern __shared__ __align__(1024) unsigned char memory[];
  auto& shared = *reinterpret_cast<KvOuterShared<Kernel>*>(memory);
  using Warps = WarpSplit<Element, tile, rung.split>;
  const Warps warps(shared.exchange);
  const QRange<rung.grid> q_tiles(args);
  const Head<Element> head(args, q_tiles.batch_head);
  const Visible<tile, rung.causal> visible(args);
  const Softmax<rung.normalize> softmax(args);
  const RowStats<rung.saved> stats{args};
  const Running<tile> running(args, head.rows);
  TileStream<Element, tile, tile.bc> k(head.k, args.k_strides.seq, 0, 1);
  TileStream<Element, tile, tile.bc> v(head.v, args.v_strides.seq, 0, 1);

  for (int j = 0, kv_tiles = visible.kv_end(q_tiles.end - 1); j < kv_tiles; ++j) {
    const int begin = max(q_tiles.begin, visible.q_begin(j));
    TileStream<Element, tile, tile.br> q(head.q, args.q_strides.seq, begin, 1);
    auto fetch = [&](int i) {
      if (i < q_tiles.end)
        q.copy(shared_address(shared.q[i % tile.stages]), args.seq_q - i * tile.br);  // (Br, d)
      commit_copies();
    };
    __syncthreads();                                                 // the last tile is done with
    k.copy(shared_address(shared.kv[0]), args.seq_k - j * tile.bc);  // (Bc, d)
    v.copy(shared_address(shared.kv[1]), args.seq_k - j * tile.bc);  // (Bc, d)
    for (int i = begin; i < begin + tile.stages - 1; ++i) fetch(i);
    await_tiles<0>();
    typename Warps::Operands kv;
    warps.take(kv, shared_address(shared.kv[0]), shared_address(shared.kv[1]));

    for (int i = begin; i < q_tiles.end; ++i) {
      const int first = i * tile.br;
      const std::uint32_t q_tile = shared_address(shared.q[i % tile.stages]);
      typename Warps::Output o;  // (Br, d)
      typename Warps::Row m, l;  // (Br)
      typename Warps::Scores s;  // (Br, Bc)
      running.load(warps, first, j == 0, o, m, l);
      await_tiles<tile.stages - 2>();
      fetch(i + tile.stages - 1);
      warps.scores(s, q_tile, kv);
      softmax.orient(s);
      visible.mask(warps, s, i, j);
      bool is_far = softmax.far(m);
      softmax.step(warps, s, m, l, o, is_far);
      warps.accumulate(o, l, s, kv);
      softmax.settle(warps, o, l);
      if (j < visible.kv_end(i) - 1) {
        running.store(warps, first, o, m, l);
      } else {
        softmax.finish(warps, o, l);
        warps.store(o, head.o, args.o_strides.seq, first, args.seq_q);
        stats.save(warps, head.rows, first, m, l);
      }
    }
  }
}

}  // namespace flashbench::kernels
