// v2's own tiles. A warp has 32 rows, so that a fragment of K or V, once read, serves two products;
// two blocks an SM, so that one computes while the other waits. Where the exponentials are raised
// hardly matters: the other way round was within 1 %. The copies of the next K and V wait until
// products run; at d = 128 they are spread over them (docs/tuning.md).
#pragma once

#include "kernels/blocks/tile.hpp"
#include "kernels/ladder/rung.hpp"

namespace flashbench::kernels {

template <class Element_, int head_dim>
struct FlashV2 {
  using Element = Element_;
  static constexpr Rung rung = v2;
  static constexpr Tile tile{.d = head_dim,
                             .br = 128,
                             .bc = head_dim == 64 ? 128 : 64,
                             .warps = 4,
                             .stages = 2,
                             .blocks = 2,
                             .raise = head_dim == 64 ? Raise::in_product : Raise::in_softmax,
                             .copies = head_dim == 64 ? Copies::at_once : Copies::pass_by_pass};
};

}  // namespace flashbench::kernels
