// The backward of FlashAttention-2 and, by another rung, of FlashAttention-1: K and V outside, Q
// inside. What the two differ in are four blocks and the tiles visited (ladder/rung.hpp).
//
//   for every row, or in the loop:  D = rowsum(dO * O)
//   for K/V tile j, in parallel or by one block a head:  dK = dV = 0
//     for Q tile i that sees it, or for every one:
//       P = exp(Q_i K_j^T - LSE_i), or exp(... - m_i) / l_i;  dV += P^T dO_i
//       dS = P * (dO_i V_j^T - D_i);  dK += dS^T Q_i;  dQ_i += dS K_j
//     dK_j, dV_j to HBM
//
// HBM: K and V are read, dK and dV written once; Q, dO and the row values are read once a K/V tile,
// and dQ is summed up in fp32, atomically by all blocks of a head or in turn by one. Shared memory:
// one tile each of K and V, a ring of Q, dO and row values, and two tiles of dS. Registers: S or
// dP, dV or dK, a part of dQ. One barrier a step: the product dS K is one step behind, and the
// warps that gather dK do it first, those that gather dV last, so that products run while
// exponentials are taken. The deterministic form of v2 leaves dQ to backward_q_outer.cuh.
#pragma once

#include "kernels/blocks/key_warps.cuh"
#include "kernels/blocks/query_sums.cuh"
#include "kernels/blocks/row_values.cuh"
#include "kernels/blocks/visible.cuh"

namespace flashbench::kernels {

// Kernel names Element, tile and rung.
template <class Kernel>
struct BackwardShared {
  using Element = typename Kernel::Element;
  static constexpr Tile tile = Kernel::tile;
  Element k[tile.bc][tile.d], v[tile.bc][tile.d];
  Element q[tile.stages][tile.br][tile.d], d_o[tile.stages][tile.br][tile.d];
  Element ds[2][tile.bc][tile.br];  // P^T, then dS^T
  SavedRows<Kernel::rung.saved, tile.br> saved[tile.stages];
  float dots[tile.stages][tile.br];
  static_assert(Kernel::rung.sums == Sums::atomic ||
                    (Kernel::rung.grid == Grid::heads && Kernel::rung.causal == Causal::visit_all),
                "only a block that meets all tiles of a head adds up in turn");
};

template <class Kernel>
__global__ void __launch_bounds__(Kernel::tile.threads(), Kernel::tile.blocks)
    backward_kv_outer(const __grid_constant__ BackwardArguments args) {
  using Element = typename Kernel::Element;
  constexpr Tile tile = Kernel::tile;
  constexpr BackwardRung rung = Kernel::rung;
  extern __shared__ __align__(1024) unsigned char memory[];
  auto& shared = *reinterpret_cast<BackwardShared<Kernel>*>(memory);
  using Warps = KeyWarps<Element, tile>;
  const Warps warps(shared);
  const QuerySums<Element, tile, rung.sums> sums;
  const Visible<tile, rung.causal> visible(args);
  const KvTiles<rung.grid> own(args);

  own.each([&](int j) {
    const QuerySteps<tile> steps(args, own.batch, own.kv_head, visible.q_begin(j));
    const RowValues<Kernel, rung.dots> values(args, steps);
    auto fetch = [&](QueryStep step, int n) {
      if (n < steps.count) {
        steps.fetch(step, n % tile.stages, shared);
        values.fetch(step, n % tile.stages, shared);
      }
      commit_copies();
    };
    auto add_to_dq = [&](QueryStep step, int n) {
      if (n >= 0) sums.add(shared, n % 2, args, steps, step, j);
    };
    fetch_tile<tile>(shared.k, args.k, args.k_strides, args.seq_k, own.batch, own.kv_head, j);
    fetch_tile<tile>(shared.v, args.v, args.v_strides, args.seq_k, own.batch, own.kv_head, j);
    QueryStep before{}, now = steps.first();
    fetch(now, 0);
    values.finish(values.read(now, 0), 0, shared);

    typename Warps::Gradient gradient;  // (Bc, d): dV or dK
    fill(gradient, 0);
    for (int n = 0; n < steps.count; ++n) {
      const int stage = n % tile.stages;
      const QueryStep next = steps.after(now);
      await_tiles<0>();
      fetch(next, n + 1);
      if (!warps.gathers_dv) add_to_dq(before, n - 1);
      typename Warps::Scores s;  // (Bc, Br)
      typename Warps::Operand operand;
      warps.scores(s, stage);
      if (warps.gathers_dv) {
        shared.saved[stage].weigh(s, args.scale_log2);
        visible.mask_transposed(s, warps.first_key, now.tile, j);
        warps.hand_over(operand, s, n % 2);
      } else {
        warps.errors(operand, s, shared.dots[stage], n % 2);
      }
      const auto read = values.read(next, n + 1);
      warps.accumulate(gradient, operand, stage);
      values.finish(read, n + 1, shared);
      if (warps.gathers_dv) add_to_dq(before, n - 1);
      before = now, now = next;
    }
    __syncthreads();
    add_to_dq(before, steps.count - 1);
    warps.store(gradient, args, own.batch, own.kv_head, j * tile.bc);
  });
}

}  // namespace flashbench::kernels
