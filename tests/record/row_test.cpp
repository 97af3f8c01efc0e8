#include "record/row.hpp"

#include <gtest/gtest.h>

namespace flashbench {
namespace {

TEST(Scores, AreRoundedInMemoryWhereTwoBytesOfEachAreWritten) {
  Problem problem;
  problem.batch = 2;
  problem.heads = 3;
  problem.seq_q = problem.seq_k = 64;
  problem.head_dim = 32;
  problem.dtype = Dtype::bf16;
  const double scores = 2 * 3 * 64 * 64;
  const auto kept = [&](double bytes, double flops) {
    KernelCost kernel;
    kernel.flops = flops;
    if (bytes > 0) kernel.traffic.written["scores"] = bytes;
    Cost cost;
    cost.kernels = {KernelCost{}, kernel};
    return keeps_rounded_scores(problem, cost);
  };
  const double product = 2 * 32 * scores;
  EXPECT_TRUE(kept(2 * scores, product));
  EXPECT_FALSE(kept(4 * scores, product));          // fp32 in memory
  EXPECT_FALSE(kept(4 * scores / 2, product / 2));  // of the visible half alone
  EXPECT_FALSE(kept(0, product));                   // fused
  EXPECT_FALSE(kept(2 * scores, 0));                // P by a softmax of its own
  problem.dtype = Dtype::fp32;
  EXPECT_FALSE(kept(2 * scores, product));
}

}  // namespace
}  // namespace flashbench
