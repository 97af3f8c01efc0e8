// What the backwards count while they run, against their own formulas and the document's section 7.
#include "kernels/gradient_case.hpp"

namespace flashbench::test {
namespace {

FlashbenchCounts count(const char* name, const Shape& shape) {
  GradientCase test(shape);
  run(name, test);
  return run_backward(name, test);
}

FlashbenchCounts formula_of(const FlashbenchCost& cost) {
  FlashbenchCounts sum{};
  for (uint32_t kernel = 0; kernel < cost.kernel_count; ++kernel) {
    sum.flops += cost.kernels[kernel].flops;
    sum.exponentials += cost.kernels[kernel].exponentials;
    for (int operand = 0; operand < FLASHBENCH_OPERANDS; ++operand) {
      sum.traffic.read[operand] += cost.kernels[kernel].traffic.read[operand];
      sum.traffic.written[operand] += cost.kernels[kernel].traffic.written[operand];
    }
  }
  return sum;
}

void expect_formula(const char* name, const Shape& shape) {
  const FlashbenchCounts counts = count(name, shape);
  const FlashbenchCounts formula = formula_of(backward_cost_of(name, shape));
  EXPECT_EQ(counts.flops, formula.flops);
  EXPECT_EQ(counts.exponentials, formula.exponentials);
  for (int operand = 0; operand < FLASHBENCH_OPERANDS; ++operand) {
    EXPECT_EQ(counts.traffic.read[operand], formula.traffic.read[operand]) << operand;
    EXPECT_EQ(counts.traffic.written[operand], formula.traffic.written[operand]) << operand;
  }
}

TEST(BackwardCounts, EqualTheFormulasOfCost) {
  for (const char* name : {"naive", "v1", "v2"})
    for (const auto dtype : {FLASHBENCH_FP32, FLASHBENCH_FP16, FLASHBENCH_BF16})
      for (const auto mask : {FLASHBENCH_FULL, FLASHBENCH_CAUSAL})
        for (const auto& [seq_q, seq_k] : {std::pair<int64_t, int64_t>{0, 9},
                                           {9, 0},
                                           {1, 1},
                                           {300, 1100},
                                           {1100, 300},
                                           {1024, 1024}}) {
          SCOPED_TRACE(testing::Message() << name << " dtype " << dtype << " mask " << mask << " "
                                          << seq_q << " x " << seq_k);
          expect_formula(name, {.batch = 2,
                                .query_heads = 4,
                                .kv_heads = 2,
                                .seq_q = seq_q,
                                .seq_k = seq_k,
                                .head_dim = 8,
                                .dtype = dtype,
                                .mask = mask});
        }
}

// 2048 keys are eight tiles of K/V, 2048 queries eight tiles of Q.
constexpr double kTiles = 8, kRows = 2048, kElements = kRows * 8;
constexpr Shape kSquare = {.seq_q = 2048, .seq_k = 2048, .head_dim = 8};

TEST(BackwardCounts, AllMultiplyFiveProducts) {
  for (const char* name : {"naive", "v1", "v2"})
    EXPECT_EQ(count(name, kSquare).flops, 5 * 2 * kRows * kRows * 8) << name;
}

TEST(BackwardCounts, V2SkipsWhatIsAboveTheDiagonalAndTheOthersDoNot) {
  Shape shape = kSquare;
  shape.mask = FLASHBENCH_CAUSAL;
  const double full = 10 * kRows * kRows * 8;
  EXPECT_EQ(count("naive", shape).flops, full);
  EXPECT_EQ(count("v1", shape).flops, full);
  EXPECT_EQ(count("v2", shape).flops, full * (kTiles + 1) / (2 * kTiles));
}

TEST(BackwardCounts, V2ReadsHalfTheSavedStatisticsOfV1) {
  const double of_d = kTiles * kRows * 4;
  const double v1 = count("v1", kSquare).traffic.read[FLASHBENCH_STATISTICS];
  const double v2 = count("v2", kSquare).traffic.read[FLASHBENCH_STATISTICS] - of_d;
  EXPECT_EQ(v1, kTiles * kRows * 8);
  EXPECT_EQ(v2, v1 / 2);
}

TEST(BackwardCounts, V1ReadsOForEveryTileOfKeysAndV2OnceForD) {
  const FlashbenchCounts v1 = count("v1", kSquare), v2 = count("v2", kSquare);
  EXPECT_EQ(v1.traffic.read[FLASHBENCH_O], kTiles * kElements * 4);
  EXPECT_EQ(v2.traffic.read[FLASHBENCH_O], kElements * 4);
  EXPECT_EQ(v2.traffic.written[FLASHBENCH_STATISTICS], kRows * 4);   // D
  EXPECT_EQ(count("naive", kSquare).traffic.read[FLASHBENCH_O], 0);  // the left side of 7.3
}

TEST(BackwardCounts, OnlyV1DividesToRecoverP) {
  EXPECT_EQ(count("v1", kSquare).divisions, kRows * kRows);
  EXPECT_EQ(count("v2", kSquare).divisions, 0);
  EXPECT_EQ(count("naive", kSquare).divisions, 0);
}

TEST(BackwardCounts, TilesOfKAndVAreLoadedAndTheirGradientsWrittenOnce) {
  for (const char* name : {"v1", "v2"}) {
    const FlashbenchCounts counts = count(name, kSquare);
    for (const auto operand : {FLASHBENCH_K, FLASHBENCH_V})
      EXPECT_EQ(counts.traffic.read[operand], kElements * 4) << name;
    for (const auto operand : {FLASHBENCH_DK, FLASHBENCH_DV})
      EXPECT_EQ(counts.traffic.written[operand], kElements * 4) << name;
  }
}

TEST(BackwardCounts, DqPassesThroughMemoryForEveryTileOfKeys) {
  EXPECT_EQ(count("v1", kSquare).traffic.written[FLASHBENCH_DQ], kTiles * kElements * 4);
  EXPECT_EQ(count("v2", kSquare).traffic.written[FLASHBENCH_DQ], (1 + kTiles) * kElements * 4);
}

TEST(BackwardCounts, V1WaitsOnceMoreATileThanV2ForItsD) {
  EXPECT_EQ(count("v1", kSquare).barriers, kTiles + 3 * kTiles * kTiles);
  EXPECT_EQ(count("v2", kSquare).barriers, kTiles + 2 * kTiles * kTiles);
}

TEST(BackwardCounts, OnlyNaiveKeepsTheScoresInMemory) {
  const double scores = kRows * kRows * 4;
  const FlashbenchCounts naive = count("naive", kSquare);
  EXPECT_EQ(naive.traffic.written[FLASHBENCH_SCORES], 4 * scores);
  EXPECT_EQ(naive.traffic.read[FLASHBENCH_SCORES], 5 * scores);
  for (const char* name : {"v1", "v2"}) {
    const FlashbenchCounts counts = count(name, kSquare);
    EXPECT_EQ(counts.traffic.read[FLASHBENCH_SCORES], 0) << name;
    EXPECT_EQ(counts.traffic.written[FLASHBENCH_SCORES], 0) << name;
  }
}

// Of a long sequence over a short one: what is per tile of threads falls out of the difference.
TEST(BackwardCost, OnlyNaivesWorkspaceGrowsWithTheSquareOfTheSequence) {
  const auto workspace = [](const char* name, int64_t seq) {
    Shape shape = {.query_heads = 16, .kv_heads = 16, .seq_q = seq, .seq_k = seq};
    return backward_cost_of(name, shape).workspace_bytes;
  };
  const int64_t pair = 2 * 16 * 4;  // two matrices of scores, fp32
  const int64_t row = 7 * 64 * 4;   // one head's Q, K, V, dO, dQ, dK, dV
  EXPECT_EQ(workspace("naive", 1024), pair * 1024 * 1024 + row * 1024);
  EXPECT_EQ(workspace("naive", 8192), pair * 8192 * 8192 + row * 8192);
  for (const char* name : {"v1", "v2"})
    EXPECT_LE(workspace(name, 8192) - workspace(name, 1024), 7168 * 16 * 3 * 4) << name;
}

TEST(BackwardCost, ForwardAndBackwardTogetherShareTheLargerWorkspace) {
  const uint32_t both = FLASHBENCH_FORWARD | FLASHBENCH_BACKWARD;
  for (const char* name : {"naive", "v1", "v2"}) {
    const FlashbenchCost forward = backward_cost_of(name, kSquare, FLASHBENCH_FORWARD);
    const FlashbenchCost backward = backward_cost_of(name, kSquare);
    const FlashbenchCost sum = backward_cost_of(name, kSquare, both);
    EXPECT_EQ(sum.kernel_count, forward.kernel_count + backward.kernel_count);
    EXPECT_EQ(sum.workspace_bytes, std::max(forward.workspace_bytes, backward.workspace_bytes));
    EXPECT_EQ(sum.saves, forward.saves);
    EXPECT_EQ(formula_of(sum).flops, formula_of(forward).flops + formula_of(backward).flops);
  }
}

}  // namespace
}  // namespace flashbench::test
