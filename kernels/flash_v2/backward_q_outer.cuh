// dQ of FlashAttention-2's backward where repeats must be equal to the bit: a second pass, which
// recomputes S and dP, instead of atomic additions.
//
//   for Q tile i, in parallel:  dQ = 0
//     for K/V tile j that it sees:
//       P = exp(Q_i K_j^T - LSE_i);  dS = P * (dO_i V_j^T - D_i);  dQ += dS K_j
//     dQ_i = scale dQ
//
// HBM: Q, dO, LSE and D are read and dQ written once, K and V read once a Q tile. Shared memory:
// one tile each of Q and dO, a ring of K and V. Registers: S, dP, dQ. The loops and the warps'
// shares are those of the forward.
#pragma once

#include "kernels/blocks/query_steps.cuh"
#include "kernels/blocks/visible.cuh"
#include "kernels/blocks/warp_split.cuh"
#include "kernels/blocks/weights.cuh"
#include "kernels/flash_v2/backward_rows.cuh"

namespace flashbench::kernels {

template <class Kernel>
struct BackwardQOuterShared {
  using Element = typename Kernel::Element;
  static constexpr Tile tile = Kernel::q_outer_tile;
  Element q[tile.br][tile.d], d_o[tile.br][tile.d];
  Element k[tile.stages][tile.bc][tile.d], v[tile.stages][tile.bc][tile.d];
  [[no_unique_address]] typename WarpSplit<Element, tile, Split::queries>::Exchange exchange;
};

// dS from S and dP, in place of S.
template <int row_blocks, int keys>
FLASHBENCH_INLINE void errors(Fragment<row_blocks, keys>& s, const Fragment<row_blocks, keys>& dp,
                              const Rows<row_blocks>& lse, const Rows<row_blocks>& dots,
                              float scale_log2) {
#pragma unroll
  for (int i = 0; i < row_blocks; ++i)
#pragma unroll
    for (int n = 0; n < keys / 8; ++n)
#pragma unroll
      for (int t = 0; t < 4; ++t)
        s.x[i][n][t] =
            weight(s.x[i][n][t], scale_log2, lse.x[i][t / 2]) * (dp.x[i][n][t] - dots.x[i][t / 2]);
}

template <class Kernel>
__global__ void __launch_bounds__(Kernel::q_outer_tile.threads(), Kernel::q_outer_tile.blocks)
    backward_q_outer(const __grid_constant__ BackwardArguments args) {
  using Element = typename Kernel::Element;
  constexpr Tile tile = Kernel::q_outer_tile;
  extern __shared__ __align__(1024) unsigned char memory[];
  auto& shared = *reinterpret_cast<BackwardQOuterShared<Kernel>*>(memory);
  using Warps = WarpSplit<Element, tile, Split::queries>;
  const Warps warps(shared.exchange);
  const Visible<tile, Causal::skip> visible(args);
  const QueryTile at(args);
  const int kv_head = at.head / args.heads_per_kv_head, i = at.tile, first = i * tile.br;
  auto fetch = [&](int j) {
    const int stage = j % tile.stages;
    if (j < visible.kv_end(i)) {
      fetch_tile<tile>(shared.k[stage], args.k, args.k_strides, args.seq_k, at.batch, kv_head, j);
      fetch_tile<tile>(shared.v[stage], args.v, args.v_strides, args.seq_k, at.batch, kv_head, j);
    }
    commit_copies();
  };
  fetch_tile<tile>(shared.q, args.q, args.q_strides, args.seq_q, at.batch, at.head, i);
  fetch_tile<tile>(shared.d_o, args.d_o, args.d_o_strides, args.seq_q, at.batch, at.head, i);
  fetch(0);
  typename Warps::Row lse, dots, unused;
  for_rows<Warps::row_blocks>(warps.first_row, tile.br, [&](int row, int b, int t) {
    lse.x[b][t] = args.row_lse[at.index * tile.br + row];
    dots.x[b][t] = args.dots[at.index * tile.br + row];
  });

  typename Warps::Output dq;  // (Br, d)
  fill(dq, 0), fill(unused, 0);
  for (int j = 0; j < visible.kv_end(i); ++j) {
    await_tiles<0>();
    fetch(j + 1);
    const std::uint32_t k = shared_address(shared.k[j % tile.stages]);
    const std::uint32_t v = shared_address(shared.v[j % tile.stages]);
    typename Warps::Operands keys, values;
    warps.take(keys, k, k);
    warps.take(values, v, v);
    typename Warps::Scores s, dp;  // (Br, Bc)
    warps.scores(s, shared_address(shared.q), keys);
    warps.scores(dp, shared_address(shared.d_o), values);
    errors(s, dp, lse, dots, args.scale_log2);
    visible.mask(warps, s, i, j, 0);
    warps.accumulate(dq, unused, s, keys);
  }
  multiply(dq, args.scale);
  warps.store(dq, matrix_of<Element>(args.dq, args.dq_strides, at.batch, at.head),
              args.dq_strides.seq, first, args.seq_q);
}

}  // namespace flashbench::kernels
