// How often the rule condemns gradients that are right, and whether it catches what is wrong:
// emulated backwards over many seeds, where one or a few roundings carry all of a block's error.
#include <gmock/gmock.h>

#include <cmath>

#include "judge/emulated_backward.hpp"
#include "judge/gradients.hpp"
#include "judge/rule.hpp"

namespace flashbench::judge {
namespace {

using flashbench::testing::EmulatedBackward;
using flashbench::testing::EmulatedGradients;

const Tell quiet = [](double, double, const std::string&) {};

struct Kind {
  Dtype dtype;
  Mask mask;
};

// One group and what the judge knows of it.
class Trial {
 public:
  Trial(const Problem& problem, std::uint64_t seed)
      : inputs_(problem, {seed, ""}, Pass::bwd, quiet) {
    for (const Tensor tensor : inputs_of(Pass::bwd))
      largest_ = std::max(largest_, inputs_.largest(tensor));
  }
  // The largest error, as a share of what is allowed.
  double worst(const EmulatedBackward& kernel) {
    const EmulatedGradients got = kernel.differentiate(inputs_, group_);
    auto& wanted = known_[kernel.unfused ? 1 : 0];
    if (!wanted) wanted = cpu_gradients(inputs_, group_, kernel.unfused, [] {});
    double most = std::max(compare(wanted->dk, got.dk), compare(wanted->dv, got.dv));
    for (std::size_t h = 0; h < got.dq.size(); ++h)
      most = std::max(most, compare(wanted->dq[h], got.dq[h]));
    return most;
  }

 private:
  double compare(const Gradient& wanted, const std::vector<float>& got) const {
    const std::int64_t d = inputs_.problem().head_dim;
    const std::int64_t rows = static_cast<std::int64_t>(got.size()) / d;
    Outcome sum;
    for (std::int64_t first = 0; first < rows; first += block_rows) {
      const Block block{0, 0, first, std::min(block_rows, rows - first)};
      add(sum,
          compare_gradient("gradient", block, wanted.exact.data() + first * d,
                           wanted.comparator.data() + first * d, got.data() + first * d, d,
                           inputs_.problem().dtype, least_error(wanted, block), largest_, false));
    }
    return sum.misplaced ? INFINITY : sum.ratio;
  }

  Inputs inputs_;
  Group group_;
  double largest_ = 0;
  std::array<std::optional<GroupGradients>, 2> known_;
};

class GradientBound : public ::testing::TestWithParam<Kind> {
 protected:
  Problem problem(std::int64_t seq_q, std::int64_t seq_k) const {
    Problem p;
    p.heads = 2;
    p.seq_q = seq_q;
    p.seq_k = seq_k;
    p.head_dim = 32;
    p.dtype = GetParam().dtype;
    p.mask = GetParam().mask;
    p.scale = 1 / std::sqrt(32.0);
    return p;
  }
};
INSTANTIATE_TEST_SUITE_P(Judge, GradientBound,
                         ::testing::Values(Kind{Dtype::fp16, Mask::full},
                                           Kind{Dtype::fp16, Mask::causal},
                                           Kind{Dtype::bf16, Mask::full},
                                           Kind{Dtype::bf16, Mask::causal}));

EmulatedBackward right(bool unfused) {
  EmulatedBackward kernel;
  kernel.unfused = unfused;
  return kernel;
}

// D of a row is off by what O lost in being rounded, in all of the row alike: where P lies on one
// key, dS may be nothing else.
TEST_P(GradientBound, PassesCorrectBackwardsAtEverySeedAndScale) {
  for (const auto& [seq_q, seq_k] : {std::pair{1, 40}, {3, 7}, {7, 150}, {66, 66}, {70, 33}})
    for (const Init init : {Init::normal, Init::outlier, Init::uniform, Init::constant})
      for (const double scale : {1 / std::sqrt(32.0), 1.0, 5.0, -0.125, 0.0})
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
          Problem p = problem(seq_q, seq_k);
          p.init = init;
          p.scale = scale;
          Trial trial(p, seed);
          for (const bool unfused : {false, true})
            EXPECT_LE(trial.worst(right(unfused)), 1)
                << seq_q << " x " << seq_k << ", " << name(init) << ", scale " << scale << ", seed "
                << seed << (unfused ? ", unfused" : "");
        }
}

// At every seed, and with room: by a factor that no longer hangs on luck.
TEST_P(GradientBound, CatchesPlantedFaultsAtEverySeed) {
  for (const std::int64_t seq : {17, 66, 130})
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      Trial trial(problem(seq, seq), seed);
      for (const bool unfused : {false, true}) {
        const auto caught = [&](const char* fault, const EmulatedBackward& kernel) {
          EXPECT_GT(trial.worst(kernel), 1.3)
              << fault << ", length " << seq << ", seed " << seed << (unfused ? ", unfused" : "");
        };
        EmulatedBackward kernel = right(unfused);
        kernel.loses = [seq](auto row, auto key) { return row >= seq / 2 && key == row; };
        caught("lost diagonal key", kernel);
        kernel.loses = [seq](auto, auto key) { return key / 64 == (seq - 1) / 64 / 2; };
        caught("dropped tile of keys", kernel);
        kernel = right(unfused);
        kernel.loses_for_keys = [seq](auto row) { return row == seq - 1; };
        caught("dK and dV without the last query", kernel);
        kernel = right(unfused);
        kernel.forgets_dots = true;
        caught("D forgotten", kernel);
        if (GetParam().mask == Mask::full) continue;
        kernel = right(unfused);
        kernel.mask_offset = 1;
        caught("mask one key too long", kernel);
        kernel.mask_offset = -1;
        caught("mask one key too short", kernel);
      }
    }
}

}  // namespace
}  // namespace flashbench::judge
