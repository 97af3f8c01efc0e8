// What the kernels count while they run, against their own formulas and the document's claims.
#include "kernels/attention_case.hpp"

namespace flashbench::test {
namespace {

constexpr const char* kNames[] = {"naive", "v1", "v2"};

double both(const FlashbenchCounts& counts, FlashbenchOperand operand) {
  return counts.traffic.read[operand] + counts.traffic.written[operand];
}

TEST(Counts, EqualTheFormulasOfCost) {
  for (const char* name : kNames)
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
          Case test({.batch = 2,
                     .query_heads = 2,
                     .kv_heads = 1,
                     .seq_q = seq_q,
                     .seq_k = seq_k,
                     .head_dim = 8,
                     .dtype = dtype,
                     .mask = mask});
          const FlashbenchCounts counts = run(name, test);
          const FlashbenchCost cost = cost_of(name, test.shape);
          FlashbenchCounts formula{};
          for (uint32_t kernel = 0; kernel < cost.kernel_count; ++kernel) {
            formula.flops += cost.kernels[kernel].flops;
            formula.exponentials += cost.kernels[kernel].exponentials;
            for (int operand = 0; operand < FLASHBENCH_OPERANDS; ++operand) {
              formula.traffic.read[operand] += cost.kernels[kernel].traffic.read[operand];
              formula.traffic.written[operand] += cost.kernels[kernel].traffic.written[operand];
            }
          }
          EXPECT_EQ(counts.flops, formula.flops);
          EXPECT_EQ(counts.exponentials, formula.exponentials);
          for (int operand = 0; operand < FLASHBENCH_OPERANDS; ++operand) {
            EXPECT_EQ(counts.traffic.read[operand], formula.traffic.read[operand]) << operand;
            EXPECT_EQ(counts.traffic.written[operand], formula.traffic.written[operand]) << operand;
          }
        }
}

// 2048 keys are four of V1's tiles.
constexpr double kSteps = 4;
constexpr Shape kSquare = {.seq_q = 2048, .seq_k = 2048, .head_dim = 8};

TEST(Counts, V1PassesOThroughMemoryInEveryStepAndV2WritesItOnce) {
  Case test(kSquare);
  const double o_bytes = 2048 * 8 * 4;
  const FlashbenchCounts v1 = run("v1", test), v2 = run("v2", test);
  EXPECT_EQ(v2.traffic.read[FLASHBENCH_O], 0);
  EXPECT_EQ(v2.traffic.written[FLASHBENCH_O], o_bytes);
  EXPECT_EQ(v1.traffic.written[FLASHBENCH_O], kSteps * o_bytes);
  EXPECT_EQ(v1.traffic.read[FLASHBENCH_O], (kSteps - 1) * o_bytes);  // the first is known to be 0
}

TEST(Counts, V1LoadsQInEveryStepAndV2Once) {
  Case test(kSquare);
  EXPECT_EQ(both(run("v1", test), FLASHBENCH_Q), kSteps * both(run("v2", test), FLASHBENCH_Q));
}

TEST(Counts, V1LoadsKAndVOnceAndV2ForEveryTileOfQ) {
  Case test(kSquare);
  const FlashbenchCounts v1 = run("v1", test), v2 = run("v2", test);
  EXPECT_EQ(both(v1, FLASHBENCH_K), 2048 * 8 * 4);
  EXPECT_EQ(both(v2, FLASHBENCH_K), 8 * both(v1, FLASHBENCH_K));
  EXPECT_EQ(both(v2, FLASHBENCH_V), both(v2, FLASHBENCH_K));
}

TEST(Counts, V2DividesEachOutputOnceAndV1TwiceInEveryStep) {
  Case test(kSquare);
  const double elements = 2048 * 8;
  EXPECT_EQ(run("v2", test).divisions, elements);
  EXPECT_EQ(run("v1", test).divisions, (2 * kSteps - 1) * elements);  // no old O in the first
}

TEST(Counts, V1RescalesOInEveryStepAndV2OnlyWhereTheMaximumGrew) {
  Case test(kSquare);
  const double elements = 2048 * 8;
  EXPECT_EQ(run("v1", test).corrections, (kSteps - 1) * elements);
  EXPECT_LT(run("v2", test).corrections, (kSteps - 1) * elements);
  test.shape.scale = 0;
  EXPECT_EQ(run("v2", test).corrections, 0);
}

TEST(Counts, OnlyV1MergesAcrossWarps) {
  Case test(kSquare);
  EXPECT_EQ(run("v2", test).merges, 0);
  // Maxima, sums and outputs of four warps, three merges each, for every row in every step.
  EXPECT_EQ(run("v1", test).merges, 3 * 3 * 2048 * kSteps);
}

TEST(Counts, V2WaitsOnceATileAndV1FourTimes) {
  Case test(kSquare);
  const double q_tiles = 8;
  EXPECT_EQ(run("v2", test).barriers, q_tiles * kSteps);
  EXPECT_EQ(run("v1", test).barriers, kSteps + 4 * q_tiles * kSteps);
}

TEST(Counts, V2SkipsWhatIsAboveTheDiagonalAndTheOthersDoNot) {
  Shape shape = kSquare;
  shape.mask = FLASHBENCH_CAUSAL;
  Case test(shape);
  const double full = 4.0 * 2048 * 2048 * 8;
  EXPECT_EQ(run("naive", test).flops, full);
  EXPECT_EQ(run("v1", test).flops, full);
  const double v2 = run("v2", test).flops;
  EXPECT_GT(v2, full / 2);
  EXPECT_LT(v2, full * 0.6);
}

TEST(Counts, OnlyNaiveKeepsTheScoresInMemory) {
  Case test(kSquare);
  const double scores = 2048.0 * 2048 * 4;
  EXPECT_EQ(both(run("naive", test), FLASHBENCH_SCORES), 4 * scores);
  EXPECT_EQ(both(run("v1", test), FLASHBENCH_SCORES), 0);
  EXPECT_EQ(both(run("v2", test), FLASHBENCH_SCORES), 0);
  EXPECT_GE(static_cast<double>(cost_of("naive", kSquare).workspace_bytes), scores);
}

TEST(Counts, V2SavesHalfTheStatisticsOfV1) {
  Case test(kSquare);
  EXPECT_EQ(run("v2", test).traffic.written[FLASHBENCH_STATISTICS], 2048 * 4);
  EXPECT_EQ(cost_of("v2", kSquare).saves, FLASHBENCH_SAVES_LSE);
  EXPECT_EQ(cost_of("v1", kSquare).saves, FLASHBENCH_SAVES_M_AND_L);
}

TEST(Cost, WorkspaceOfV2DoesNotGrowWithTheSequence) {
  Shape longer = kSquare;
  longer.seq_q = longer.seq_k = 1 << 20;
  EXPECT_EQ(cost_of("v2", longer).workspace_bytes, cost_of("v2", kSquare).workspace_bytes);
}

}  // namespace
}  // namespace flashbench::test
