// One tile for all rungs, so that a rung's gain is its idea's and not its tile's.
#pragma once

#include "kernels/blocks/tile.hpp"
#include "kernels/ladder/rung.hpp"

namespace flashbench::kernels {

// The kernel of without[step] for one head dimension.
template <class Element_, int head_dim, int step>
struct Without {
  using Element = Element_;
  static constexpr Rung rung = without[step].rung;
  static constexpr Tile tile{
      .d = head_dim, .br = 64, .bc = 64, .warps = 4, .stages = 2, .blocks = 2};
};

}  // namespace flashbench::kernels
