// What a rung of the backward costs and launches follows from its one idea: neither asks a GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "kernels/hopper.hpp"
#include "kernels/index.hpp"
#include "kernels/ladder/kernels.hpp"

namespace flashbench::kernels {
namespace {

// Q tiles have 64 rows and K/V tiles 128.
constexpr double heads = 16, seq = 1024, d = 128, q_tiles = seq / 64, kv_tiles = seq / 128;
constexpr double rows = heads * seq, matrix = rows * d * 2;  // bytes of Q, K, V or O
constexpr double sums = 2 * matrix;                          // of dQ, fp32

FlashbenchProblem problem(FlashbenchMask mask = FLASHBENCH_FULL) {
  FlashbenchProblem p{};
  p.batch = 2;
  p.query_heads = p.kv_heads = 8;
  p.seq_q = p.seq_k = static_cast<std::int64_t>(seq);
  p.head_dim = static_cast<std::int64_t>(d);
  p.dtype = FLASHBENCH_BF16;
  p.mask = mask;
  p.passes = FLASHBENCH_FORWARD | FLASHBENCH_BACKWARD;
  p.scale = 0.125;
  p.alignment = 256;
  return p;
}

const FlashbenchImplementation* find(const std::string& name) {
  for (std::uint32_t i = 0; i < builtin().count; ++i)
    if (name == builtin().implementations[i].name) return &builtin().implementations[i];
  return nullptr;
}

// Empty where it is supported.
std::string refusal(const std::string& name, const FlashbenchProblem& p) {
  FlashbenchMessage message{};
  const FlashbenchDevice device = tests::hopper();
  return find(name)->supports(&p, &device, &message) == FLASHBENCH_OK ? "" : message.text;
}

struct Sum {
  double flops = 0, exponentials = 0, read[FLASHBENCH_OPERANDS] = {},
         written[FLASHBENCH_OPERANDS] = {};
  double workspace = 0;
  std::uint32_t kernels = 0, saves = 0;
};

// Of all kernels of the backward.
Sum cost_of(const std::string& name, FlashbenchMask mask = FLASHBENCH_FULL) {
  const FlashbenchProblem p = problem(mask);
  const FlashbenchDevice device = tests::hopper();
  FlashbenchCost cost{};
  FlashbenchMessage message{};
  const FlashbenchImplementation* impl = find(name);
  if (impl == nullptr ||
      impl->cost(&p, &device, FLASHBENCH_BACKWARD, &cost, &message) != FLASHBENCH_OK) {
    ADD_FAILURE() << name << ": " << message.text;
    return {};
  }
  Sum sum;
  for (std::uint32_t i = 0; i < cost.kernel_count; ++i) {
    sum.flops += cost.kernels[i].flops;
    sum.exponentials += cost.kernels[i].exponentials;
    for (int x = 0; x < FLASHBENCH_OPERANDS; ++x) {
      sum.read[x] += cost.kernels[i].traffic.read[x];
      sum.written[x] += cost.kernels[i].traffic.written[x];
    }
  }
  sum.workspace = static_cast<double>(cost.workspace_bytes);
  sum.kernels = cost.kernel_count, sum.saves = cost.saves;
  return sum;
}

void expect_same(const Sum& a, const Sum& b, std::initializer_list<int> but = {}) {
  EXPECT_EQ(a.flops, b.flops);
  EXPECT_EQ(a.exponentials, b.exponentials);
  for (int x = 0; x < FLASHBENCH_OPERANDS; ++x) {
    if (std::find(but.begin(), but.end(), x) != but.end()) continue;
    EXPECT_EQ(a.read[x], b.read[x]) << x;
    EXPECT_EQ(a.written[x], b.written[x]) << x;
  }
}

TEST(BackwardLadder, V1ReadsOAndItsStatisticsAndCarriesDqThroughMemoryForEveryTileOfKeys) {
  const Sum v1 = cost_of("ladder/v1");
  EXPECT_EQ(v1.kernels, 1u);
  EXPECT_EQ(v1.flops, 10 * d * heads * seq * seq);
  EXPECT_EQ(v1.exponentials, heads * seq * seq);
  EXPECT_EQ(v1.read[FLASHBENCH_K], matrix);
  EXPECT_EQ(v1.written[FLASHBENCH_DV], matrix);
  EXPECT_EQ(v1.read[FLASHBENCH_Q], kv_tiles * matrix);
  EXPECT_EQ(v1.read[FLASHBENCH_O], kv_tiles * matrix);
  EXPECT_EQ(v1.read[FLASHBENCH_STATISTICS], kv_tiles * rows * 8);
  EXPECT_EQ(v1.read[FLASHBENCH_DQ], (kv_tiles - 1) * sums);
  EXPECT_EQ(v1.written[FLASHBENCH_DQ], (kv_tiles - 1) * sums + matrix);
  EXPECT_EQ(v1.workspace, sums);
  EXPECT_EQ(v1.saves, FLASHBENCH_SAVES_M_AND_L);
}

TEST(BackwardLadder, TheFirstRungCostsWhatV1DoesAndTheLastWhatV2Does) {
  for (const FlashbenchMask mask : {FLASHBENCH_FULL, FLASHBENCH_CAUSAL}) {
    expect_same(cost_of("ladder/v1", mask), cost_of("v1", mask));
    expect_same(cost_of("ladder/logsumexp", mask), cost_of("v2", mask));
    EXPECT_EQ(cost_of("ladder/logsumexp", mask).workspace, cost_of("v2", mask).workspace);
  }
}

TEST(BackwardLadder, DOnceReadsOOnceAndRowValuesAtEveryVisit) {
  const Sum before = cost_of("ladder/v1"), now = cost_of("ladder/d-once");
  EXPECT_EQ(now.kernels, 2u);
  EXPECT_EQ(now.read[FLASHBENCH_O], matrix);
  EXPECT_EQ(now.read[FLASHBENCH_DO], before.read[FLASHBENCH_DO] + matrix);
  EXPECT_EQ(now.written[FLASHBENCH_STATISTICS], rows * 12);
  EXPECT_EQ(now.read[FLASHBENCH_STATISTICS], rows * 8 + kv_tiles * rows * 12);
  EXPECT_EQ(now.workspace, sums + rows * 12);
  expect_same(before, now, {FLASHBENCH_O, FLASHBENCH_DO, FLASHBENCH_STATISTICS});
}

TEST(BackwardLadder, AtomicDqIsClearedBeforehandAndRoundedAfterwards) {
  const Sum before = cost_of("ladder/d-once"), now = cost_of("ladder/atomic-dq");
  EXPECT_EQ(now.kernels, 3u);
  EXPECT_EQ(now.read[FLASHBENCH_DQ], (kv_tiles + 1) * sums);
  EXPECT_EQ(now.written[FLASHBENCH_DQ], (1 + kv_tiles) * sums + matrix);
  EXPECT_EQ(now.workspace, before.workspace);
  expect_same(before, now, {FLASHBENCH_DQ});
}

TEST(BackwardLadder, TheGridMovesNoByteAndNoFlopButMakesABlockOfEveryKvTile) {
  for (const FlashbenchMask mask : {FLASHBENCH_FULL, FLASHBENCH_CAUSAL})
    expect_same(cost_of("ladder/atomic-dq", mask), cost_of("ladder/grid-over-kv", mask));
  const auto blocks = [](const BackwardRung& rung) {
    return backward_plan(rung, backward_rung_128(rung), problem(), nullptr).kernels[1].blocks;
  };
  EXPECT_EQ(blocks(atomic_dq), heads);
  EXPECT_EQ(blocks(grid_over_kv), heads * kv_tiles);
}

// Of Q tiles i and K/V tiles j those with i < 2 j are not visited.
TEST(BackwardLadder, CausalSkipHalvesTheWorkOfACausalProblemAndNothingElse) {
  const Sum before = cost_of("ladder/grid-over-kv", FLASHBENCH_CAUSAL);
  const Sum now = cost_of("ladder/causal-skip", FLASHBENCH_CAUSAL);
  const double share = (q_tiles + 2) / (2 * q_tiles);
  EXPECT_EQ(now.flops, share * before.flops);
  EXPECT_EQ(now.exponentials, share * before.exponentials);
  EXPECT_EQ(now.read[FLASHBENCH_Q], share * before.read[FLASHBENCH_Q]);
  EXPECT_EQ(now.read[FLASHBENCH_K], before.read[FLASHBENCH_K]);
  EXPECT_EQ(now.written[FLASHBENCH_DK], before.written[FLASHBENCH_DK]);
  EXPECT_EQ(now.read[FLASHBENCH_DQ], share * kv_tiles * sums + sums);
  expect_same(cost_of("ladder/grid-over-kv"), cost_of("ladder/causal-skip"));
}

TEST(BackwardLadder, LogsumexpReadsOneStatisticWhereThereWereTwo) {
  const Sum before = cost_of("ladder/causal-skip"), now = cost_of("ladder/logsumexp");
  EXPECT_EQ(before.saves, FLASHBENCH_SAVES_M_AND_L);
  EXPECT_EQ(now.saves, FLASHBENCH_SAVES_LSE);
  EXPECT_EQ(now.read[FLASHBENCH_STATISTICS], rows * 4 + kv_tiles * rows * 8);
  EXPECT_EQ(now.written[FLASHBENCH_STATISTICS], rows * 8);
  EXPECT_EQ(before.workspace - now.workspace, rows * 4);
  expect_same(before, now, {FLASHBENCH_STATISTICS});
}

TEST(BackwardLadder, WithoutDOnceOIsReadAtEveryVisitAndDqStillCleared) {
  const Sum v2 = cost_of("ladder/logsumexp", FLASHBENCH_CAUSAL);
  const Sum now = cost_of("without/d-once", FLASHBENCH_CAUSAL);
  EXPECT_EQ(now.kernels, 3u);
  EXPECT_EQ(now.read[FLASHBENCH_O], now.read[FLASHBENCH_DO]);
  EXPECT_EQ(now.read[FLASHBENCH_DO], v2.read[FLASHBENCH_DO] - matrix);
  EXPECT_EQ(now.written[FLASHBENCH_STATISTICS], 0);
  EXPECT_EQ(now.workspace, sums);
  expect_same(v2, now, {FLASHBENCH_O, FLASHBENCH_DO, FLASHBENCH_STATISTICS});
}

TEST(BackwardLadder, WithoutOneOfTheOtherIdeasIsV2ButForIt) {
  expect_same(cost_of("without/grid-over-kv"), cost_of("ladder/logsumexp"));
  expect_same(cost_of("without/causal-skip", FLASHBENCH_CAUSAL), cost_of("ladder/logsumexp"));
  expect_same(cost_of("without/logsumexp"), cost_of("ladder/causal-skip"));
}

TEST(BackwardLadder, ARungThatAddsAtomicallyDoesNotPromiseToRepeat) {
  FlashbenchProblem p = problem();
  p.deterministic = 1;
  for (const BackwardStep& step : backward_ladder) {
    const std::string reason = refusal(step.facts.name, p);
    if (step.rung.sums == Sums::in_turn)
      EXPECT_EQ(reason, "") << step.facts.name;
    else
      EXPECT_THAT(reason, ::testing::HasSubstr("atomically")) << step.facts.name;
  }
}

TEST(BackwardLadder, ARungOfTheForwardAloneHasNoBackward) {
  for (const char* name : {"ladder/q-outer", "without/warps-along-q"})
    EXPECT_THAT(refusal(name, problem()), ::testing::HasSubstr("no backward")) << name;
}

TEST(BackwardLadder, ARungIsBuiltInBf16Alone) {
  FlashbenchProblem p = problem();
  p.passes = FLASHBENCH_BACKWARD;
  p.dtype = FLASHBENCH_FP16;
  for (const BackwardStep& step : backward_ladder)
    EXPECT_THAT(refusal(step.facts.name, p), ::testing::HasSubstr("dtype")) << step.facts.name;
}

// An SM has 228 KiB, an A100's 164; a block takes 1 KiB more than it asks for.
TEST(BackwardLadder, OneBlockFitsAMultiprocessorOnEveryRungAndTwoOnNone) {
  for (const BackwardRung& rung : backward_rungs)
    for (const BackwardKernels& kernels : {backward_rung_64(rung), backward_rung_128(rung)}) {
      EXPECT_GT(kernels.shared_bytes, 233472 / 2 - 1024);
      EXPECT_LE(kernels.shared_bytes, 166912);
    }
}

}  // namespace
}  // namespace flashbench::kernels
