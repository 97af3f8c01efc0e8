// One tile for all rungs, so that a rung's gain is its idea's and not its tile's. Two blocks an SM
// have room on each of them; at d = 128 that leaves the warps' exchange one buffer beside Q and the
// ring of K and V tiles.
#pragma once

#include <cstdint>

#include "kernels/blocks/tile.hpp"
#include "kernels/ladder/rung.hpp"

namespace flashbench::kernels {

// Bytes a block. Rungs that need fewer ask for these, or where d = 64 a third block would fit
// beside theirs, and its gain would be taken for the idea's. (An SM of sm_90 has 228 KiB, of sm_80
// 164.)
inline constexpr std::int64_t ladder_shared_bytes = 77 * 1024;

template <class Element_, int head_dim, Rung rung_>
struct LadderKernel {
  using Element = Element_;
  static constexpr Rung rung = rung_;
  static constexpr Tile tile{.d = head_dim,
                             .br = 64,
                             .bc = 64,
                             .warps = 4,
                             .stages = 2,
                             .blocks = 2,
                             .exchanges = head_dim == 64 ? 2 : 1};
};

}  // namespace flashbench::kernels
