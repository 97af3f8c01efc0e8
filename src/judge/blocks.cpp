#include "judge/blocks.hpp"

#include <algorithm>
#include <set>

#include "worker/hash.hpp"

namespace flashbench::judge {

namespace {

// Blocks beside the rows where tiles of 128, 256, ... rows end, and the ends of the sequence.
std::set<std::int64_t> edges(std::int64_t blocks) {
  std::set<std::int64_t> chosen;
  for (const std::int64_t i : {std::int64_t{0}, std::int64_t{1}, blocks - 2, blocks - 1})
    if (i >= 0 && i < blocks) chosen.insert(i);
  for (std::int64_t i = 2; i < blocks; i *= 2) chosen.insert({i - 1, i});
  return chosen;
}

// Numbers of the sampled blocks, where block i of (b, h) has number (b * H + h) * blocks + i.
std::set<std::int64_t> sample(const Problem& problem, std::int64_t blocks, std::int64_t budget,
                              std::uint64_t seed) {
  const std::int64_t total = problem.batch * problem.heads * blocks;
  std::set<std::int64_t> chosen;
  for (const std::int64_t b : {std::int64_t{0}, problem.batch - 1})
    for (const std::int64_t h : {std::int64_t{0}, problem.heads - 1})
      for (const std::int64_t i : edges(blocks))
        chosen.insert((b * problem.heads + h) * blocks + i);
  for (std::uint64_t draw = 0; static_cast<std::int64_t>(chosen.size()) < std::min(budget, total);
       ++draw)
    chosen.insert(static_cast<std::int64_t>(mix(mix(seed + 1) + draw * 0x9e3779b97f4a7c15u) %
                                            static_cast<std::uint64_t>(total)));
  return chosen;
}

}  // namespace

std::vector<Block> blocks_to_compare(const Problem& problem, std::uint64_t seed, double limit) {
  const std::int64_t blocks = (problem.seq_q + block_rows - 1) / block_rows;
  const std::int64_t total = problem.batch * problem.heads * blocks;
  if (total == 0) return {};
  // However few rows a block has, its draws of the comparator (comparator.hpp) cost no less than
  // this many rows would.
  constexpr double dearest_rows = 16;
  const double rows = static_cast<double>(problem.seq_q) / static_cast<double>(blocks);
  const double each = std::max(flops(problem, Pass::fwd).exact / static_cast<double>(total) *
                                   std::max(dearest_rows / rows, 1.0),
                               1.0);
  std::vector<Block> chosen;
  const auto take = [&](std::int64_t number) {
    const std::int64_t first = number % blocks * block_rows, head = number / blocks;
    chosen.push_back({head / problem.heads, head % problem.heads, first,
                      std::min(block_rows, problem.seq_q - first)});
  };
  if (each * static_cast<double>(total) <= limit) {
    for (std::int64_t number = 0; number < total; ++number) take(number);
  } else {
    for (const std::int64_t number :
         sample(problem, blocks, static_cast<std::int64_t>(limit / each), seed))
      take(number);
  }
  return chosen;
}

std::vector<BlockRun> runs_of(const std::vector<Block>& blocks, std::size_t longest) {
  std::vector<BlockRun> runs;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const bool goes_on = !runs.empty() && runs.back().count < longest &&
                         blocks[i].batch == blocks[i - 1].batch &&
                         blocks[i].head == blocks[i - 1].head;
    if (goes_on)
      ++runs.back().count;
    else
      runs.push_back({i, 1});
  }
  return runs;
}

}  // namespace flashbench::judge
