// v1's own tiles: short Q tiles, worked off 16 rows at a time, so that a warp can hold its share of
// K and V in registers and its product over all columns of O beside it; eight warps, the most such
// registers allow an SM.
#pragma once

#include "kernels/blocks/tile.hpp"
#include "kernels/ladder/rung.hpp"

namespace flashbench::kernels {

template <class Element_, int head_dim>
struct FlashV1 {
  using Element = Element_;
  static constexpr Rung rung = v1;
  static constexpr Tile tile{.d = head_dim,
                             .br = 32,
                             .bc = head_dim == 64 ? 512 : 256,
                             .warps = 8,
                             .stages = 3,
                             .blocks = 1,
                             .raise = Raise::in_product};
};

// The backward is v2's skeleton (flash_v2/backward.cuh) at the other end of its rungs, and its
// tiles are v2's, so that what differs between the two is not the tile.
template <class Element_, int head_dim>
struct FlashV1Backward {
  using Element = Element_;
  static constexpr BackwardRung rung = backward_v1;
  static constexpr Tile tile{.d = head_dim,
                             .br = head_dim == 64 ? 128 : 64,
                             .bc = 128,
                             .warps = 8,
                             .stages = 2,
                             .blocks = 1};
};

}  // namespace flashbench::kernels
