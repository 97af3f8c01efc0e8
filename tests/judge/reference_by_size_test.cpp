// Which reference a problem goes to.
#include <gtest/gtest.h>

#include "judge/reference_by_size.hpp"

namespace flashbench::judge {
namespace {

// Says by its footprint which one it is, and counts what it forgets.
class Named : public Reference {
 public:
  Named(std::int64_t name, int& drops) : name_(name), drops_(drops) {}
  void drop() override { ++drops_; }
  std::int64_t footprint(const Problem&) const override { return name_; }
  std::vector<BlockReference> forward(const Inputs&, std::span<const Block>) const override {
    return {};
  }
  void round_scores(const Inputs&, std::span<const Block>,
                    std::span<BlockReference>) const override {}
  GroupGradients gradients(const Inputs&, const Group&, bool,
                           const std::function<void()>&) const override {
    return {};
  }

 private:
  std::int64_t name_;
  int& drops_;
};

constexpr std::int64_t gpu = 1, cpu = 2;

struct BySize : ::testing::Test {
  int drops = 0;
  ReferenceBySize reference{std::make_unique<Named>(gpu, drops),
                            std::make_unique<Named>(cpu, drops)};

  std::int64_t chosen(std::int64_t heads, std::int64_t seq, std::int64_t head_dim) const {
    Problem problem;
    problem.heads = heads;
    problem.kv_heads = 1;
    problem.seq_q = problem.seq_k = seq;
    problem.head_dim = head_dim;
    return reference.footprint(problem);
  }
};

TEST_F(BySize, AFewRowsGoToTheCpuHoweverManyHeads) {
  EXPECT_EQ(chosen(1, 16, 64), cpu);
  EXPECT_EQ(chosen(1, 63, 64), cpu);
  EXPECT_EQ(chosen(1, 64, 64), gpu);
}

TEST_F(BySize, TheHeadsOfAGroupCountTogether) {
  EXPECT_EQ(chosen(15, 16, 64), cpu);
  EXPECT_EQ(chosen(16, 16, 64), gpu);
}

TEST_F(BySize, HeadDimensionsWithoutAKernelGoToTheCpu) {
  EXPECT_EQ(chosen(1, 1024, 256), gpu);
  EXPECT_EQ(chosen(1, 1024, 264), cpu);
}

TEST_F(BySize, BothForgetWhatTheyWereGiven) {
  reference.drop();
  EXPECT_EQ(drops, 2);
}

}  // namespace
}  // namespace flashbench::judge
