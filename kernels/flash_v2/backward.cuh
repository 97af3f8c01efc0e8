// FlashAttention-2 backward.
//
//   for every row:  D = rowsum(dO * O)
//   for K/V tile j, in parallel:  dK = dV = 0
//     for Q tile i that sees it:
//       P = exp(Q_i K_j^T - LSE_i);  dV += P^T dO_i
//       dS = P * (dO_i V_j^T - D_i);  dK += dS^T Q_i;  dQ_i += dS K_j
//     dK_j, dV_j to HBM
//
// HBM: K and V are read, dK and dV written once; Q, dO, LSE and D are read once a K/V tile, and dQ
// is added up in fp32, atomically, by all blocks of a head. Shared memory: one tile each of K and
// V, a ring of Q, dO, LSE and D, and two tiles of dS. Registers: S or dP, dV or dK, a part of dQ.
// One barrier a step: the product dS K is one step behind, and the warps that gather dK do it
// first, those that gather dV last, so that products run while exponentials are taken. The
// deterministic form leaves dQ to backward_q_outer.cuh. Its neighbour flash_v1 does everything for
// a head in one block.
#pragma once

#include "kernels/blocks/key_warps.cuh"
#include "kernels/blocks/query_gradient.cuh"
#include "kernels/blocks/query_steps.cuh"
#include "kernels/blocks/visible.cuh"
#include "kernels/blocks/weights.cuh"

namespace flashbench::kernels {

template <class Kernel>
struct BackwardShared {
  using Element = typename Kernel::Element;
  static constexpr Tile tile = Kernel::tile;
  Element k[tile.bc][tile.d], v[tile.bc][tile.d];
  Element q[tile.stages][tile.br][tile.d], d_o[tile.stages][tile.br][tile.d];
  Element ds[2][tile.bc][tile.br];  // P^T, then dS^T
  SavedRows<Saved::log_sum_exp, tile.br> saved[tile.stages];
  float dots[tile.stages][tile.br];
};

template <class Kernel>
__global__ void __launch_bounds__(Kernel::tile.threads(), Kernel::tile.blocks)
    backward_kv_outer(const __grid_constant__ BackwardArguments args) {
  using Element = typename Kernel::Element;
  constexpr Tile tile = Kernel::tile;
  extern __shared__ __align__(1024) unsigned char memory[];
  auto& shared = *reinterpret_cast<BackwardShared<Kernel>*>(memory);
  using Warps = KeyWarps<Element, tile>;
  const Warps warps(shared);
  const QueryGradient<Element, tile> dq;
  const Visible<tile, Causal::skip> visible(args);
  const int j = blockIdx.x % args.kv_tiles, head = blockIdx.x / args.kv_tiles;
  const int batch = head / args.kv_heads, kv_head = head % args.kv_heads;
  const QuerySteps<tile> steps(args, batch, kv_head, visible.q_begin(j));
  auto fetch = [&](QueryStep step, int n) {
    if (n < steps.count) {
      steps.fetch(step, n % tile.stages, shared);
      fetch_rows<tile.br>(shared.saved[n % tile.stages].lse, args.row_lse, steps.index(step), 0);
      fetch_rows<tile.br>(shared.dots[n % tile.stages], args.dots, steps.index(step), 1);
    }
    commit_copies();
  };
  auto add_to_dq = [&](QueryStep step, int n) {
    if (n < 0 || args.dq_sums == nullptr) return;
    dq.add_atomically(dq.product(shared, n % 2), args.dq_sums, steps.index(step));
  };
  fetch_tile<tile>(shared.k, args.k, args.k_strides, args.seq_k, batch, kv_head, j);  // (Bc, d)
  fetch_tile<tile>(shared.v, args.v, args.v_strides, args.seq_k, batch, kv_head, j);  // (Bc, d)
  QueryStep before{}, now = steps.first();
  fetch(now, 0);

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
    warps.accumulate(gradient, operand, stage);
    if (warps.gathers_dv) add_to_dq(before, n - 1);
    before = now, now = next;
  }
  __syncthreads();
  add_to_dq(before, steps.count - 1);
  warps.store(gradient, args, batch, kv_head, j * tile.bc);
}

}  // namespace flashbench::kernels
