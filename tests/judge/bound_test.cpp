// How often the rule condemns what is right, and whether it catches what is wrong: emulated kernels
// over many seeds, on blocks so short or with so few keys that one comparator is a poor measure.
#include <gmock/gmock.h>

#include <array>
#include <cmath>

#include "judge/comparator.hpp"
#include "judge/emulated_kernel.hpp"
#include "judge/rule.hpp"
#include "judge/score_errors.hpp"

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
    for (std::size_t i = 0; i < blocks_.size(); ++i)
      single_[i].comparator_error = error_of_one_draw(blocks_[i], references_[i]);
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
  double error_of_one_draw(const Block& block, const BlockReference& reference) const {
    const Problem& problem = inputs_.problem();
    const auto q = inputs_.rows(Tensor::q, block.batch, block.head, block.first, block.rows);
    const auto o = comparator(problem, Keys(inputs_, block.batch, block.head), q, block.first);
    double most = 0;
    for (std::size_t i = 0; i < o.size(); ++i)
      most = std::max(most, std::fabs(static_cast<double>(o[i]) - reference.o[i]));
    return most;
  }
  double worst(const EmulatedKernel& kernel, const std::vector<BlockReference>& references,
               bool rounded_scores) const {
    const std::int64_t d = inputs_.problem().head_dim;
    Outcome sum;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      const auto o = kernel.attend(inputs_, 0, 0, blocks_[i].first, blocks_[i].rows);
      add(sum, compare_o(blocks_[i], references[i], o.data(), d, inputs_.largest(Tensor::v),
                         ScoreErrors(inputs_, 0, 0).of(blocks_[i]), rounded_scores));
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

// Blocks, found among millions, in which O lies next to a number of the dtype, so that nearly all
// roundings of P leave it there: of what a kernel errs by whose O goes to the next number, the
// draws see nothing.
struct Unlucky {
  std::int64_t seq_q, seq_k, head_dim;
  Mask mask;
  Dtype dtype;
  Init init;
  std::uint64_t seed;
  std::int64_t batch;
};
class FewKeys : public ::testing::TestWithParam<Unlucky> {
 protected:
  FewKeys() {
    const Unlucky& block = GetParam();
    problem_.batch = block.batch + 1;
    problem_.seq_q = block.seq_q;
    problem_.seq_k = block.seq_k;
    problem_.head_dim = block.head_dim;
    problem_.mask = block.mask;
    problem_.dtype = block.dtype;
    problem_.init = block.init;
    problem_.scale = 1 / std::sqrt(static_cast<double>(block.head_dim));
    inputs_ = std::make_unique<Inputs>(problem_, InputSet{block.seed, ""}, Pass::fwd, quiet);
  }
  bool passes(const EmulatedKernel& kernel, std::int64_t batch) const {
    const Block block{batch, 0, 0, problem_.seq_q};
    const auto references = cpu_reference()->forward(*inputs_, std::span(&block, 1));
    const auto o = kernel.attend(*inputs_, batch, 0, 0, problem_.seq_q);
    const Outcome outcome =
        compare_o(block, references[0], o.data(), problem_.head_dim, inputs_->largest(Tensor::v),
                  ScoreErrors(*inputs_, batch, 0).of(block), false);
    return outcome.failed_blocks == 0;
  }
  // P of a key in a row.
  double weight(std::int64_t batch, std::int64_t row, std::int64_t key) const {
    const Keys keys(*inputs_, batch, 0);
    const auto q = inputs_->rows(Tensor::q, batch, 0, row, 1);
    double sum = 0, own = 0;
    for (std::int64_t j = 0; j < visible_keys(problem_, row); ++j) {
      double s = 0;
      for (std::size_t x = 0; x < q.size(); ++x)
        s += q[x] * keys.k_double[static_cast<std::size_t>(j) * q.size() + x];
      sum += std::exp(s * problem_.scale);
      if (j == key) own = std::exp(s * problem_.scale);
    }
    return sum > 0 ? own / sum : 0;
  }

  Problem problem_;
  std::unique_ptr<Inputs> inputs_;
};
INSTANTIATE_TEST_SUITE_P(
    Judge, FewKeys,
    ::testing::Values(Unlucky{1, 3, 16, Mask::full, Dtype::bf16, Init::outlier, 3, 3503},
                      Unlucky{2, 3, 8, Mask::causal, Dtype::bf16, Init::outlier, 2, 1404},
                      Unlucky{4, 4, 8, Mask::causal, Dtype::fp16, Init::outlier, 6, 1593},
                      Unlucky{2, 3, 8, Mask::full, Dtype::fp16, Init::normal, 3, 2225}));

TEST_P(FewKeys, CostHalfAUnitOfOHoweverLuckyTheDraws) {
  EmulatedKernel kernel;
  kernel.tile = 1 + GetParam().batch % 3;
  EXPECT_TRUE(passes(kernel, GetParam().batch));
}

TEST_P(FewKeys, AreMissedWhereOneIsLeftOut) {
  for (std::int64_t batch = 0; batch <= GetParam().batch; batch += 10)
    for (std::int64_t lost = 0; lost < problem_.seq_k; ++lost) {
      double most = 0;  // of the key's weight in the rows that see others as well
      for (std::int64_t row = 0; row < problem_.seq_q; ++row)
        most = std::max(most, weight(batch, row, lost));
      EmulatedKernel kernel;
      kernel.loses = [lost](auto, auto key) { return key == lost; };
      if (most < 0.1) continue;
      EXPECT_FALSE(passes(kernel, batch)) << "batch " << batch << ", key " << lost;
    }
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
