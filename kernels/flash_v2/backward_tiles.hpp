// The backward's own tiles, those of FlashAttention-2: a pair of warps has 32 keys, so that a
// fragment of Q or dO, once read, serves two products; what is gathered and what is computed fill a
// thread's registers, and what is in flight an A100's shared memory.
#pragma once

#include "kernels/blocks/tile.hpp"
#include "kernels/ladder/rung.hpp"

namespace flashbench::kernels {

template <class Element_, int head_dim>
struct FlashV2Backward {
  using Element = Element_;
  static constexpr BackwardRung rung = backward_v2;
  static constexpr Tile tile{.d = head_dim,
                             .br = head_dim == 64 ? 128 : 64,
                             .bc = 128,
                             .warps = 8,
                             .stages = 2,
                             .blocks = 1};
  // Where dQ has a pass of its own. Its Q tiles are those of `tile`, so that rows are padded alike.
  static constexpr Tile q_outer_tile{.d = head_dim,
                                     .br = tile.br,
                                     .bc = 64,
                                     .warps = tile.br / 16,
                                     .stages = 2,
                                     .blocks = head_dim == 64 ? 1 : 2};
};

}  // namespace flashbench::kernels
