// One tile for all rungs, so that a rung's gain is its idea's and not its tile's. Two blocks an SM
// have room on each of them; at d = 128 that leaves the warps' exchange one buffer beside Q and the
// ring of K and V tiles.
#pragma once

#include <cstdint>

#include "kernels/blocks/tile.hpp"
#include "kernels/flash_v1/tiles.hpp"
#include "kernels/flash_v2/backward_tiles.hpp"
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

// The backward's tile is v2's own, and v1's: by registers and by shared memory one block has room
// on an SM, on every rung.
template <class Element_, int head_dim, BackwardRung rung_>
struct LadderBackward : FlashV2Backward<Element_, head_dim> {
  static constexpr BackwardRung rung = rung_;
  static constexpr Tile own = FlashV1Backward<Element_, head_dim>::tile;
  static_assert(own.br == LadderBackward::tile.br && own.bc == LadderBackward::tile.bc &&
                    own.warps == LadderBackward::tile.warps,
                "the first rung's gain over v1 itself would be its tile's");
};

}  // namespace flashbench::kernels
