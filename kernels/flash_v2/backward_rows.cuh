// What comes before and after FlashAttention-2's backward, a Q tile a block, bound by bytes:
//
//   prepare_rows:  D = rowsum(dO * O), LSE in units of log2;  dQ = 0
//   round_dq:      dQ, fp32 and unscaled, into the tensor
#pragma once

#include "kernels/blocks/query_gradient.cuh"
#include "kernels/blocks/row_dots.cuh"
#include "kernels/blocks/weights.cuh"

namespace flashbench::kernels {

// This block's Q tile.
struct QueryTile {
  std::int64_t index = blockIdx.x;  // among all of them
  int batch, head, tile;

  FLASHBENCH_INLINE explicit QueryTile(const BackwardArguments& a) {
    const int batch_head = blockIdx.x / a.q_tiles;
    batch = batch_head / a.heads, head = batch_head % a.heads, tile = blockIdx.x % a.q_tiles;
  }
};

template <class Kernel>
__global__ void __launch_bounds__(Kernel::tile.threads())
    prepare_rows(const __grid_constant__ BackwardArguments args) {
  using Element = typename Kernel::Element;
  constexpr Tile tile = Kernel::tile;
  constexpr int lanes = tile.d / 8, threads = 32 * tile.warps, at_once = threads / lanes;
  static_assert(tile.br % at_once == 0 && tile.br <= threads);
  const QueryTile at(args);
  const int first = at.tile * tile.br, chunk = threadIdx.x % lanes * 8;
  const auto* o = matrix_of<Element>(args.o, args.o_strides, at.batch, at.head) + chunk;
  const auto* d_o = matrix_of<Element>(args.d_o, args.d_o_strides, at.batch, at.head) + chunk;
  float* dots = args.dots + at.index * tile.br;
#pragma unroll
  for (int r = threadIdx.x / lanes, n = 0; n < tile.br / at_once; ++n, r += at_once) {
    uint4 x{}, y{};
    if (first + r < args.seq_q) {
      x = *reinterpret_cast<const uint4*>(d_o + (first + r) * args.d_o_strides.seq);
      y = *reinterpret_cast<const uint4*>(o + (first + r) * args.o_strides.seq);
    }
    const float dot = dot_do_o<Element, lanes>(x, y);
    if (threadIdx.x % lanes == 0) dots[r] = dot;
  }
  if (const int r = threadIdx.x; r < tile.br) {
    const std::int64_t row = at.index / args.q_tiles * args.seq_q + first + r;
    args.row_lse[at.index * tile.br + r] =
        first + r < args.seq_q ? SavedRows<Saved::log_sum_exp, tile.br>::of(args, row) : INFINITY;
  }
  if (args.dq_sums == nullptr) return;
  auto* sums = reinterpret_cast<float4*>(args.dq_sums + at.index * (tile.br * tile.d));
#pragma unroll
  for (int n = threadIdx.x; n < tile.br * tile.d / 4; n += threads) sums[n] = float4{};
}

template <class Kernel>
__global__ void __launch_bounds__(Kernel::tile.threads())
    round_dq(const __grid_constant__ BackwardArguments args) {
  using Element = typename Kernel::Element;
  constexpr Tile tile = Kernel::tile;
  const QueryTile at(args);
  const QueryGradient<Element, tile> dq;
  typename QueryGradient<Element, tile>::Part sum;
  fill(sum, 0);
  dq.add_saved(sum, args.dq_sums, at.index);
  dq.store(sum, args.scale, matrix_of<Element>(args.dq, args.dq_strides, at.batch, at.head),
           args.dq_strides.seq, at.tile * tile.br, args.seq_q);
}

}  // namespace flashbench::kernels
