// FlashAttention-1 backward: one block a (batch, KV head) does everything.
//
//   for K/V tile j:  dK = dV = 0
//     for every Q tile i:
//       D_i = rowsum(dO_i * O_i)
//       P = exp(Q_i K_j^T - m_i) / l_i;  dV += P^T dO_i
//       dS = P * (dO_i V_j^T - D_i);  dK += dS^T Q_i
//       dQ_i from HBM;  dQ_i += dS K_j;  dQ_i to HBM
//     dK_j, dV_j to HBM
//
// HBM: K and V are read, dK and dV written once; Q, dO, O, m and l are read, dQ (fp32) read and
// written once a K/V tile, and D is computed as often. Nothing is skipped: tiles that no query sees
// are masked. Shared memory: one tile each of K, V and dS, a ring of Q and dO. Registers: as in its
// neighbour flash_v2, which runs K/V tiles in parallel and computes D beforehand.
#pragma once

#include "kernels/blocks/key_warps.cuh"
#include "kernels/blocks/query_gradient.cuh"
#include "kernels/blocks/query_steps.cuh"
#include "kernels/blocks/row_dots.cuh"
#include "kernels/blocks/visible.cuh"
#include "kernels/blocks/weights.cuh"

namespace flashbench::kernels {

template <class Kernel>
struct BackwardV1Shared {
  using Element = typename Kernel::Element;
  static constexpr Tile tile = Kernel::tile;
  Element k[tile.bc][tile.d], v[tile.bc][tile.d];
  Element q[tile.stages][tile.br][tile.d], d_o[tile.stages][tile.br][tile.d];
  Element ds[1][tile.bc][tile.br];  // P^T, then dS^T
  SavedRows<Saved::m_and_l, tile.br> saved;
  float dots[tile.br];
};

// D of a tile whose dO is in shared memory.
template <Tile tile, class Element>
FLASHBENCH_INLINE void dot_rows(float (&dots)[tile.br], const Element (&d_o)[tile.br][tile.d],
                                const Element* o, std::int64_t seq_stride, int present) {
  constexpr int lanes = tile.d / 8, at_once = 32 * tile.warps / lanes;
  static_assert(tile.br % at_once == 0);
  const int chunk = threadIdx.x % lanes;
#pragma unroll
  for (int r = threadIdx.x / lanes, n = 0; n < tile.br / at_once; ++n, r += at_once) {
    uint4 y{};
    if (r < present) y = *reinterpret_cast<const uint4*>(o + r * seq_stride + chunk * 8);
    const uint4 x = load_shared(shared_address(d_o) + swizzled<tile>(r, chunk));
    const float dot = dot_do_o<Element, lanes>(x, y);
    if (chunk == 0) dots[r] = dot;
  }
}

template <class Kernel>
__global__ void __launch_bounds__(Kernel::tile.threads(), Kernel::tile.blocks)
    backward_one_block(const __grid_constant__ BackwardArguments args) {
  using Element = typename Kernel::Element;
  constexpr Tile tile = Kernel::tile;
  extern __shared__ __align__(1024) unsigned char memory[];
  auto& shared = *reinterpret_cast<BackwardV1Shared<Kernel>*>(memory);
  using Warps = KeyWarps<Element, tile>;
  const Warps warps(shared);
  const QueryGradient<Element, tile> dq;
  const Visible<tile, Causal::visit_all> visible(args);
  const int batch = blockIdx.x / args.kv_heads, kv_head = blockIdx.x % args.kv_heads;
  const QuerySteps<tile> steps(args, batch, kv_head, 0);

  for (int j = 0, kv_tiles = visible.kv_end(0); j < kv_tiles; ++j) {
    auto fetch = [&](QueryStep step, int n) {
      if (n < steps.count) steps.fetch(step, n % tile.stages, shared);
      commit_copies();
    };
    __syncthreads();  // the last tile is done with
    fetch_tile<tile>(shared.k, args.k, args.k_strides, args.seq_k, batch, kv_head, j);  // (Bc, d)
    fetch_tile<tile>(shared.v, args.v, args.v_strides, args.seq_k, batch, kv_head, j);  // (Bc, d)
    QueryStep now = steps.first();
    fetch(now, 0);
    typename Warps::Gradient gradient;  // (Bc, d): dV or dK
    fill(gradient, 0);
    for (int n = 0; n < steps.count; ++n, now = steps.after(now)) {
      const int stage = n % tile.stages, first = now.tile * tile.br;
      typename Warps::Scores s;  // (Bc, Br)
      typename Warps::Operand operand;
      await_tiles<0>();
      fetch(steps.after(now), n + 1);
      const auto* o = matrix_of<Element>(args.o, args.o_strides, batch, now.head);
      dot_rows<tile>(shared.dots, shared.d_o[stage], o + first * args.o_strides.seq,
                     args.o_strides.seq, args.seq_q - first);
      if (const int r = threadIdx.x; r < tile.br)
        shared.saved.put(
            r, decltype(shared.saved)::of(args, steps.row(now) + r, first + r < args.seq_q));
      warps.scores(s, stage);
      __syncthreads();  // D, m and l are there
      if (warps.gathers_dv) {
        shared.saved.weigh(s, args.scale_log2);
        visible.mask_transposed(s, warps.first_key, now.tile, j);
        warps.hand_over(operand, s, 0);
      } else {
        warps.errors(operand, s, shared.dots, 0);
      }
      warps.accumulate(gradient, operand, stage);
      __syncthreads();  // dS is there
      auto part = dq.product(shared, 0);
      if (j > 0) dq.add_saved(part, args.dq_sums, steps.index(now));
      if (j + 1 < kv_tiles)
        dq.save(part, args.dq_sums, steps.index(now));
      else
        dq.store(part, args.scale, matrix_of<Element>(args.dq, args.dq_strides, batch, now.head),
                 args.dq_strides.seq, first, args.seq_q);
    }
    warps.store(gradient, args, batch, kv_head, j * tile.bc);
  }
}

}  // namespace flashbench::kernels
