// How often the rule condemns what is right, and whether it catches what is wrong: emulated kernels
// over many seeds, on blocks so short or with so few keys that one comparator is a poor measure.
#include <gmock/gmock.h>

#include <array>
#include <cmath>

#include "judge/comparator.hpp"
#include "judge/emulated_kernel.hpp"
#include "judge/rule.hpp"

namespace flashbench::judge {
namespace {

using flashbench::testing::EmulatedKernel;

const Tell quiet = [](double, double, const std::string&) {};
constexpr std::array<std::int64_t, 9> lengths{1, 2, 7, 15, 17, 63, 65, 97, 129};
constexpr std::uint64_t seeds = 200;

struct Kind {
  Dtype dtype;
  Mask mask;
};

class Bound : public ::testing::TestWithParam<Kind> {
 protected:
  Problem problem(std::int64_t seq_q, std::int64_t seq_k) const {
    Problem p;
    p.seq_q = seq_q;
    p.seq_k = seq_k;
    p.head_dim = 32;
    p.dtype = GetParam().dtype;
    p.mask = GetParam().mask;
    p.scale = 1 / std::sqrt(32.0);
    return p;
  }
};
INSTANTIATE_TEST_SUITE_P(Judge, Bound,
                         ::testing::Values(Kind{Dtype::fp16, Mask::full},
                                           Kind{Dtype::fp16, Mask::causal},
                                           Kind{Dtype::bf16, Mask::full},
                                           Kind{Dtype::bf16, Mask::causal}));

// One head and what the judge knows of it.
class Trial {
 public:
  Trial(const Problem& problem, std::uint64_t seed)
      : inputs_(problem, {seed, ""}, Pass::fwd, quiet) {
    for (std::int64_t first = 0; first < problem.seq_q; first += block_rows)
      blocks_.push_back({0, 0, first, std::min(block_rows, problem.seq_q - first)});
    references_ = cpu_reference()->forward(inputs_, blocks_);
    single_ = references_;
    add_draws(inputs_, blocks_, references_);
    round_scores(inputs_, blocks_, references_);
  }
  bool passes(const EmulatedKernel& kernel, bool rounded_scores) const {
    return worst(kernel, references_, rounded_scores) <= 1;
  }
  // With one draw of the comparator, as if its error were exactly known.
  bool passes_one_draw(const EmulatedKernel& kernel) const {
    return worst(kernel, single_, false) <= 1;
  }

 private:
  double worst(const EmulatedKernel& kernel, const std::vector<BlockReference>& references,
               bool rounded_scores) const {
    const std::int64_t d = inputs_.problem().head_dim;
    Outcome sum;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      const auto o = kernel.attend(inputs_, 0, 0, blocks_[i].first, blocks_[i].rows);
      add(sum, compare_o(blocks_[i], references[i], o.data(), d, inputs_.largest(Tensor::v),
                         rounded_scores));
    }
    return sum.misplaced ? INFINITY : sum.ratio;
  }

  Inputs inputs_;
  std::vector<Block> blocks_;
  std::vector<BlockReference> references_, single_;
};

// Tile sizes and orders in turn.
EmulatedKernel fused(std::uint64_t seed) {
  EmulatedKernel kernel;
  kernel.tile = std::array<std::int64_t, 3>{32, 64, 128}[seed % 3];
  kernel.descending = seed / 3 % 2 == 1;
  return kernel;
}
EmulatedKernel unfused() {
  EmulatedKernel kernel;
  kernel.rounded_scores = true;
  return kernel;
}

TEST_P(Bound, PassesCorrectKernelsAtEverySeedHoweverShortTheBlock) {
  for (const std::int64_t seq : lengths)
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      const Trial trial(problem(seq, seed % 2 ? seq : 5), seed);
      EXPECT_TRUE(trial.passes(fused(seed), false)) << "fused, length " << seq << ", seed " << seed;
      EXPECT_TRUE(trial.passes(unfused(), true)) << "unfused, length " << seq << ", seed " << seed;
    }
}

// Why more than one draw, and why the S of an unfused implementation is rounded: without, what is
// right is condemned.
TEST(Bounds, OfOneDrawCondemnWhatIsRight) {
  Problem p;
  p.seq_q = 1;
  p.seq_k = 5;
  p.head_dim = 32;
  p.dtype = Dtype::bf16;
  p.scale = 1 / std::sqrt(32.0);
  int condemned = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    const Trial trial(p, seed);
    condemned += !trial.passes_one_draw(fused(seed));
    EXPECT_TRUE(trial.passes(fused(seed), false)) << seed;
  }
  EXPECT_GT(condemned, 0);
}

TEST_P(Bound, OfFp32ScoresCondemnScoresRoundedInMemory) {
  int condemned = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    condemned += !Trial(problem(129, 129), seed).passes(unfused(), false);
  EXPECT_GT(condemned, 0);
}

// Caught at every seed, by either comparator.
TEST_P(Bound, CatchesPlantedFaultsAtEverySeed) {
  for (const std::int64_t seq : lengths)
    for (std::uint64_t seed = 1; seed <= seeds; seed += 5) {
      const Trial trial(problem(seq, seq), seed);
      for (const bool rounded : {false, true}) {
        const EmulatedKernel right = rounded ? unfused() : fused(seed);
        const auto caught = [&](const char* fault, const EmulatedKernel& kernel) {
          EXPECT_FALSE(trial.passes(kernel, rounded))
              << fault << ", length " << seq << ", seed " << seed << (rounded ? ", rounded S" : "");
        };
        EmulatedKernel kernel = right;
        kernel.unwritten_row = seq - 1;
        caught("last row unwritten", kernel);
        kernel = right;
        kernel.loses = [seq](auto row, auto key) { return row >= seq / 2 && key == row; };
        caught("lost diagonal key", kernel);
        kernel.loses = [seq](auto, auto key) { return key / 64 == (seq - 1) / 64 / 2; };
        caught("dropped tile", kernel);
        if (GetParam().mask == Mask::full || seq == 1) continue;
        kernel = right;
        kernel.mask_offset = 1;
        caught("mask one key too long", kernel);
        kernel.mask_offset = -1;
        caught("mask one key too short", kernel);
      }
    }
}

TEST(Draws, AreOfTheRowsWithTheMostConcentratedP) {
  BlockReference reference;
  reference.lse.assign(20, 8);  // P of the top key is exp(top - lse)
  for (int i = 0; i < 20; ++i) reference.top.push_back(i % 2 ? 8 : i * 0.1);
  EXPECT_THAT(rows_to_draw(reference), ::testing::ElementsAre(18, 16, 14, 12, 10, 8, 6, 4));
  reference.lse = {1, -INFINITY, 2};
  reference.top = {1, -INFINITY, 1};  // one key, none, several
  EXPECT_THAT(rows_to_draw(reference), ::testing::ElementsAre(2));
}

}  // namespace
}  // namespace flashbench::judge
