// How dQ is summed over K/V tiles, in fp32 in HBM.
//   clear  beforehand, by a block of each Q tile
//   add    the product of one Q tile and one K/V tile
#pragma once

#include "kernels/blocks/query_gradient.cuh"
#include "kernels/blocks/query_steps.cuh"

namespace flashbench::kernels {

template <class Element, Tile tile, Sums sums>
struct QuerySums;

// By many blocks at a time; round_dq makes dQ of the sum. dq_sums may be null: not added up.
template <class Element, Tile tile>
struct QuerySums<Element, tile, Sums::atomic> {
  static constexpr int threads = tile.threads();
  QueryGradient<Element, tile> dq;

  FLASHBENCH_INLINE static void clear(const BackwardArguments& a, std::int64_t index) {
    if (a.dq_sums == nullptr) return;
    auto* sums = reinterpret_cast<float4*>(a.dq_sums + index * (tile.br * tile.d));
#pragma unroll
    for (int n = threadIdx.x; n < tile.br * tile.d / 4; n += threads) sums[n] = float4{};
  }
  // From dS in shared.ds[buffer], of this step and K/V tile j.
  template <class Shared>
  FLASHBENCH_INLINE void add(Shared& shared, int buffer, const BackwardArguments& a,
                             const QuerySteps<tile>& steps, QueryStep step, int) const {
    if (a.dq_sums == nullptr) return;
    dq.add_atomically(dq.product(shared, buffer), a.dq_sums, steps.index(step));
  }
};

// By the one block of a head, which meets every Q tile at every K/V tile: the first visit finds no
// sum, the last one leaves dQ itself. A thread meets its own floats again.
template <class Element, Tile tile>
struct QuerySums<Element, tile, Sums::in_turn> {
  QueryGradient<Element, tile> dq;

  FLASHBENCH_INLINE static void clear(const BackwardArguments&, std::int64_t) {}

  template <class Shared>
  FLASHBENCH_INLINE void add(Shared& shared, int buffer, const BackwardArguments& a,
                             const QuerySteps<tile>& steps, QueryStep step, int j) const {
    typename QueryGradient<Element, tile>::Part part, before;  // asked for ahead of the product
    fill(before, 0);
    if (j > 0) dq.add_saved(before, a.dq_sums, steps.index(step));
    part = dq.product(shared, buffer);
    add_to(part, before);
    if (j + 1 < a.kv_tiles)
      dq.save(part, a.dq_sums, steps.index(step));
    else
      dq.store(part, a.scale, matrix_of<Element>(a.dq, a.dq_strides, steps.batch, step.head),
               a.dq_strides.seq, step.tile * tile.br, a.seq_q);
  }
};

}  // namespace flashbench::kernels
