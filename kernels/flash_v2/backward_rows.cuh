// What comes before and after a backward, a Q tile a block, bound by bytes:
//
//   prepare_rows:  D = rowsum(dO * O), LSE in units of log2;  dQ = 0
//   round_dq:      dQ, fp32 and unscaled, into the tensor
#pragma once

#include "kernels/blocks/query_sums.cuh"
#include "kernels/blocks/row_values.cuh"

namespace flashbench::kernels {

template <class Kernel>
__global__ void __launch_bounds__(Kernel::tile.threads())
    prepare_rows(const __grid_constant__ BackwardArguments args) {
  const QueryTile at(args);
  RowValues<Kernel, Kernel::rung.dots>::prepare(args, at);
  QuerySums<typename Kernel::Element, Kernel::tile, Kernel::rung.sums>::clear(args, at.index);
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
