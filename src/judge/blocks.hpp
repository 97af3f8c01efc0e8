// Which 64-row blocks are compared.
#pragma once

#include <vector>

#include "judge/reference.hpp"

namespace flashbench::judge {

// Above this the reference would take too long, and blocks are sampled.
inline constexpr double most_flops = 3e11, most_gpu_flops = 6e11;
inline constexpr std::int64_t most_blocks = 50000;

// All blocks, in order of batch, head and row; or, where the forward exceeds `limit` FLOPs or there
// are more than most_blocks, a sample of about that cost: in the first and last head of the first
// and last batch the first, last and tile-edge blocks, then blocks drawn by a hash of the seed.
std::vector<Block> blocks_to_compare(const Problem&, std::uint64_t seed, double limit = most_flops);
// The same, cut into runs of one batch and head of at most `longest` blocks: {first, count}.
struct BlockRun {
  std::size_t first = 0, count = 0;
};
std::vector<BlockRun> runs_of(const std::vector<Block>&, std::size_t longest);

}  // namespace flashbench::judge
