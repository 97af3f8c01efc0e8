// What O may be off by where scores are so large that their roundings in fp32 move P.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "judge/emulated_kernel.hpp"
#include "judge/rule.hpp"
#include "judge/score_errors.hpp"

namespace flashbench::judge {
namespace {

using flashbench::testing::EmulatedKernel;

const Tell quiet = [](double, double, const std::string&) {};

Problem fp32(double scale, Mask mask = Mask::full) {
  Problem problem;
  problem.heads = problem.kv_heads = 2;
  problem.seq_q = 129;
  problem.seq_k = 257;
  problem.head_dim = 112;
  problem.dtype = Dtype::fp32;
  problem.mask = mask;
  problem.scale = scale;
  return problem;
}

struct Ratios {
  double with, without;  // the largest errors as shares of their bounds, and without score_errors
};

Ratios worst(const Problem& problem, std::uint64_t seed, const EmulatedKernel& kernel) {
  const Inputs inputs(problem, {seed, ""}, Pass::fwd, quiet);
  Ratios ratios{0, 0};
  for (std::int64_t head = 0; head < problem.heads; ++head)
    for (std::int64_t first = 0; first < problem.seq_q; first += block_rows) {
      const Block block{0, head, first, std::min(block_rows, problem.seq_q - first)};
      const auto reference = cpu_reference()->forward(inputs, {{block}}).front();
      const auto o = kernel.attend(inputs, 0, head, first, block.rows);
      const auto ratio = [&](const std::vector<double>& errors) {
        const Outcome outcome = compare_o(block, reference, o.data(), problem.head_dim,
                                          inputs.largest(Tensor::v), errors, false);
        return outcome.misplaced ? INFINITY : outcome.ratio;
      };
      const auto errors = ScoreErrors(inputs, 0, head).of(block);
      ratios.with = std::max(ratios.with, ratio(errors));
      ratios.without = std::max(ratios.without, ratio(std::vector<double>(errors.size())));
    }
  return ratios;
}

EmulatedKernel tiled(std::int64_t tile) {
  EmulatedKernel kernel;
  kernel.tile = tile;
  return kernel;
}

TEST(ScoreBound, PassesWhatRoundingsOfLargeScoresMove) {
  for (const double scale : {-20.0, 50.0, 100.0}) {
    double condemned = 0;
    for (std::uint64_t seed = 1; seed <= 12; ++seed)
      for (const std::int64_t tile : {32, 64}) {
        const auto [with, without] = worst(fp32(scale), seed, tiled(tile));
        EXPECT_LE(with, 0.9) << "scale " << scale << ", seed " << seed;
        condemned = std::max(condemned, without);
      }
    EXPECT_GT(condemned, 1) << "without it, at scale " << scale;
  }
}

TEST(ScoreBound, IsNotWidenedAtOrdinaryScales) {
  for (const std::int64_t d : {64, 128, 256}) {
    Problem problem = fp32(1 / std::sqrt(static_cast<double>(d)));
    problem.head_dim = d;
    const auto [with, without] = worst(problem, 1, tiled(64));
    EXPECT_EQ(with, without) << d;
  }
}

// A tile of keys holds some row's weight at any scale; a single key at the end of the mask only
// while many keys share it.
TEST(ScoreBound, CatchesFaultsAtLargeScales) {
  for (const double scale : {1.0, 4.0, 100.0})
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      const Problem problem = fp32(scale, Mask::causal);
      EmulatedKernel loses = tiled(64), stale = tiled(64), longer = tiled(64), shorter = tiled(64);
      loses.loses = [](std::int64_t, std::int64_t key) { return key >= 64 && key < 128; };
      stale.unwritten_row = 128;
      longer.mask_offset = 1, shorter.mask_offset = -1;
      EXPECT_GT(worst(problem, seed, loses).with, 10) << "scale " << scale << ", seed " << seed;
      EXPECT_GT(worst(problem, seed, stale).with, 10) << "scale " << scale << ", seed " << seed;
      if (scale > 1) continue;
      EXPECT_GT(worst(problem, seed, longer).with, 10) << "seed " << seed;
      EXPECT_GT(worst(problem, seed, shorter).with, 10) << "seed " << seed;
    }
}

}  // namespace
}  // namespace flashbench::judge
