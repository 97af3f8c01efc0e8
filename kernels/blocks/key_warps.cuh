// The warps of a backward block that holds a K/V tile. They come in pairs; each pair has keys of
// its own and sees every query. One warp of a pair makes P^T and gathers dV, the other makes dS^T
// and gathers dK, so that each holds one gradient in registers and both do as many products:
//   scores      S^T = K Q^T            dP^T = V dO^T
//   hand_over   P^T, to the other      dS^T = P^T (dP^T - D), in its place
//   accumulate  dV += P^T dO           dK += dS^T Q
// P^T is the left operand of its product as it stands in registers; what the pair exchanges passes
// through that part of `ds` which is its keys', and no other warp waits for it.
#pragma once

#include "kernels/blocks/backward_arguments.hpp"
#include "kernels/blocks/product.cuh"

namespace flashbench::kernels {

enum NamedBarrier { every_thread = 0, first_pair = 1 };

template <class Element, Tile tile>
class KeyWarps {
 public:
  static constexpr int pairs = tile.warps / 2, keys = tile.bc / pairs, row_blocks = keys / 16;
  using Scores = Fragment<row_blocks, tile.br>;   // S^T, P^T, dP^T or dS^T
  using Operand = Rounded<row_blocks, tile.br>;   // P^T or dS^T
  using Gradient = Fragment<row_blocks, tile.d>;  // dV or dK

  bool gathers_dv;
  int first_key;

  template <class Shared>
  FLASHBENCH_INLINE explicit KeyWarps(Shared& shared)
      : gathers_dv(warp() < pairs), first_key(warp() % pairs * keys) {
    own_ = shared_address(gathers_dv ? shared.k : shared.v) + lane_of_q<tile>(first_key);
    scores_ = shared_address(gathers_dv ? shared.q : shared.d_o) + lane_of_k<tile>(0);
    gradient_ = shared_address(gathers_dv ? shared.d_o : shared.q) + lane_of_v<tile>(0);
    ds_ = shared_address(shared.ds) + swizzled<tile.br>(first_key + lane_row(), 0) +
          lane_column() * 2;
  }

  FLASHBENCH_INLINE void scores(Scores& s, int stage) const {
    multiply_qk<Element, tile>(s, own_, scores_ + stage * tile.br * tile.d * 2);
  }

  // P^T, rounded, for this warp and for the other one of its pair.
  FLASHBENCH_INLINE void hand_over(Operand& rounded, const Scores& p, int buffer) const {
#pragma unroll
    for (int n = 0; n < tile.br / 8; ++n) {
      each([&](int i, int t) {
        rounded.x[i][n][t] = pack<Element>(p.x[i][n][2 * t], p.x[i][n][2 * t + 1]);
        store_shared(slot(buffer, i, n, t), rounded.x[i][n][t]);
      });
    }
    arrive_and_wait(first_pair + warp() % pairs, 64);
  }

  // dS^T from dP^T, rounded, for this warp and for the product with K. dots: D of the tile's rows.
  // P^T is loaded a step ahead of its use.
  FLASHBENCH_INLINE void errors(Operand& rounded, const Scores& dp, const float (&dots)[tile.br],
                                int buffer) const {
    Taken next;
    arrive_and_wait(first_pair + warp() % pairs, 64);
    take(next, dots, buffer, 0);
#pragma unroll
    for (int n = 0; n < tile.br / 8; ++n) {
      const Taken taken = next;
      if (n + 1 < tile.br / 8) take(next, dots, buffer, n + 1);
      each([&](int i, int t) {
        const float2 p = unpack<Element>(taken.p[i][t]);
        rounded.x[i][n][t] = pack<Element>(p.x * (dp.x[i][n][2 * t] - taken.dots.x),
                                           p.y * (dp.x[i][n][2 * t + 1] - taken.dots.y));
        store_shared(slot(buffer, i, n, t), rounded.x[i][n][t]);
      });
    }
  }

  FLASHBENCH_INLINE void accumulate(Gradient& gradient, const Operand& rounded, int stage) const {
    multiply_pv<Element, tile>(gradient, rounded, gradient_ + stage * tile.br * tile.d * 2);
  }

  FLASHBENCH_INLINE void store(Gradient& gradient, const BackwardArguments& a, int batch,
                               int kv_head, int first) const {
    const Strides& strides = gathers_dv ? a.dv_strides : a.dk_strides;
    if (!gathers_dv) multiply(gradient, a.scale);
    store_columns(gradient, matrix_of<Element>(gathers_dv ? a.dv : a.dk, strides, batch, kv_head),
                  strides.seq, first + first_key, a.seq_k);
  }

 private:
  // What the other warp left of eight queries, and their D.
  struct Taken {
    std::uint32_t p[row_blocks][2];
    float2 dots;
  };
  FLASHBENCH_INLINE void take(Taken& taken, const float (&dots)[tile.br], int buffer, int n) const {
    taken.dots = *reinterpret_cast<const float2*>(&dots[n * 8 + lane_column()]);
    each([&](int i, int t) { taken.p[i][t] = load_shared_word(slot(buffer, i, n, t)); });
  }
  template <class F>
  FLASHBENCH_INLINE static void each(F f) {
#pragma unroll
    for (int i = 0; i < row_blocks; ++i)
#pragma unroll
      for (int t = 0; t < 2; ++t) f(i, t);
  }
  // Where this lane keeps two neighbouring elements of a row of `ds`.
  FLASHBENCH_INLINE std::uint32_t slot(int buffer, int i, int n, int t) const {
    return ((ds_ + buffer * tile.bc * tile.br * 2) ^ (n * 16)) + (i * 16 + t * 8) * tile.br * 2;
  }

  std::uint32_t own_, scores_, gradient_, ds_;
};

}  // namespace flashbench::kernels
