// What a rung costs follows from its one idea: cost() asks no GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "kernels/hopper.hpp"
#include "kernels/index.hpp"
#include "kernels/ladder/steps.hpp"

namespace flashbench::kernels {
namespace {

constexpr double heads = 16, seq = 1024, d = 128, tiles = seq / 64;
constexpr double matrix = heads * seq * d * 2;  // bytes of Q, K, V or O

FlashbenchProblem problem(FlashbenchMask mask) {
  FlashbenchProblem p{};
  p.batch = 2;
  p.query_heads = p.kv_heads = 8;
  p.seq_q = p.seq_k = static_cast<std::int64_t>(seq);
  p.head_dim = static_cast<std::int64_t>(d);
  p.dtype = FLASHBENCH_BF16;
  p.mask = mask;
  p.passes = FLASHBENCH_FORWARD;
  p.scale = 0.125;
  p.alignment = 256;
  return p;
}

const FlashbenchImplementation* find(const std::string& name) {
  for (std::uint32_t i = 0; i < builtin().count; ++i)
    if (name == builtin().implementations[i].name) return &builtin().implementations[i];
  return nullptr;
}

struct RungCost {
  double flops, exponentials, workspace;
  FlashbenchTraffic traffic;
  std::uint32_t saves;
};

RungCost cost_of(const std::string& name, FlashbenchMask mask = FLASHBENCH_FULL) {
  const FlashbenchDevice device = tests::hopper();
  const FlashbenchProblem p = problem(mask);
  const FlashbenchImplementation* impl = find(name);
  FlashbenchCost cost{};
  FlashbenchMessage message{};
  if (impl == nullptr ||
      impl->cost(&p, &device, FLASHBENCH_FORWARD, &cost, &message) != FLASHBENCH_OK) {
    ADD_FAILURE() << name << ": " << message.text;
    return {};
  }
  EXPECT_EQ(cost.kernel_count, 1u) << name;
  const FlashbenchKernelCost& kernel = cost.kernels[0];
  return {kernel.flops, kernel.exponentials, static_cast<double>(cost.workspace_bytes),
          kernel.traffic, cost.saves};
}

void expect_same_bytes(const RungCost& a, const RungCost& b) {
  for (int operand = 0; operand < FLASHBENCH_OPERANDS; ++operand) {
    EXPECT_EQ(a.traffic.read[operand], b.traffic.read[operand]) << operand;
    EXPECT_EQ(a.traffic.written[operand], b.traffic.written[operand]) << operand;
  }
}

TEST(Ladder, EveryRungIsInTheTableInOrderWithItsPasses) {
  constexpr std::uint32_t fwd = FLASHBENCH_FORWARD, bwd = FLASHBENCH_BACKWARD;
  std::vector<std::pair<std::string, std::uint32_t>> found;
  for (std::uint32_t i = 0; i < builtin().count; ++i) {
    const FlashbenchImplementation& impl = builtin().implementations[i];
    if (std::string(impl.name).find('/') == std::string::npos) continue;
    found.emplace_back(impl.name, impl.passes);
    EXPECT_EQ(impl.backward != nullptr, (impl.passes & bwd) != 0) << impl.name;
  }
  const std::vector<std::pair<std::string, std::uint32_t>> wanted{
      {"ladder/v1", fwd | bwd},
      {"ladder/delayed-normalisation", fwd},
      {"ladder/q-outer", fwd},
      {"ladder/grid-over-q", fwd},
      {"ladder/warps-along-q", fwd},
      {"ladder/d-once", bwd},
      {"ladder/atomic-dq", bwd},
      {"ladder/grid-over-kv", bwd},
      {"ladder/causal-skip", fwd | bwd},
      {"ladder/logsumexp", fwd | bwd},
      {"without/delayed-normalisation", fwd},
      {"without/q-outer", fwd},
      {"without/grid-over-q", fwd},
      {"without/warps-along-q", fwd},
      {"without/d-once", bwd},
      {"without/grid-over-kv", bwd},
      {"without/causal-skip", fwd | bwd},
      {"without/logsumexp", fwd | bwd}};
  EXPECT_EQ(found, wanted);
}

TEST(Ladder, V1CarriesOThroughMemoryForEveryTileOfKeys) {
  const RungCost v1 = cost_of("ladder/v1");
  EXPECT_EQ(v1.traffic.read[FLASHBENCH_K], matrix);
  EXPECT_EQ(v1.traffic.read[FLASHBENCH_Q], tiles * matrix);
  EXPECT_EQ(v1.traffic.read[FLASHBENCH_O], (tiles - 1) * 2 * matrix);  // fp32
  EXPECT_EQ(v1.traffic.written[FLASHBENCH_O], (tiles - 1) * 2 * matrix + matrix);
  EXPECT_EQ(v1.workspace, heads * seq * (d + 2) * 4);
}

TEST(Ladder, DelayedNormalisationMovesTheSameBytes) {
  expect_same_bytes(cost_of("ladder/v1"), cost_of("ladder/delayed-normalisation"));
  expect_same_bytes(cost_of("ladder/logsumexp"), cost_of("without/delayed-normalisation"));
}

TEST(Ladder, QOuterWritesOOnceAndReadsKeysForEveryTileOfQueries) {
  const RungCost before = cost_of("ladder/delayed-normalisation"), now = cost_of("ladder/q-outer");
  EXPECT_EQ(now.traffic.read[FLASHBENCH_O], 0);
  EXPECT_EQ(now.traffic.written[FLASHBENCH_O], matrix);
  EXPECT_EQ(now.traffic.read[FLASHBENCH_Q], matrix);
  EXPECT_EQ(now.traffic.read[FLASHBENCH_K], tiles * matrix);
  EXPECT_EQ(now.workspace, 0);
  EXPECT_EQ(now.flops, before.flops);
}

TEST(Ladder, TheGridAndTheWarpsMoveNoByteAndNoFlop) {
  for (const FlashbenchMask mask : {FLASHBENCH_FULL, FLASHBENCH_CAUSAL}) {
    const RungCost rung = cost_of("ladder/q-outer", mask);
    for (const char* name : {"ladder/grid-over-q", "ladder/warps-along-q"}) {
      const RungCost next = cost_of(name, mask);
      expect_same_bytes(rung, next);
      EXPECT_EQ(rung.flops, next.flops) << name;
    }
  }
}

TEST(Ladder, CausalSkipHalvesTheWorkOfACausalProblemAndNothingElse) {
  const RungCost before = cost_of("ladder/warps-along-q", FLASHBENCH_CAUSAL);
  const RungCost now = cost_of("ladder/causal-skip", FLASHBENCH_CAUSAL);
  const double share = (tiles + 1) / (2 * tiles);
  EXPECT_EQ(now.flops, share * before.flops);
  EXPECT_EQ(now.exponentials, share * before.exponentials);
  EXPECT_EQ(now.traffic.read[FLASHBENCH_V], share * before.traffic.read[FLASHBENCH_V]);
  EXPECT_EQ(now.traffic.written[FLASHBENCH_O], before.traffic.written[FLASHBENCH_O]);
  EXPECT_EQ(cost_of("ladder/warps-along-q").flops, cost_of("ladder/causal-skip").flops);
}

TEST(Ladder, LogsumexpWritesHalfTheStatistics) {
  const RungCost before = cost_of("ladder/causal-skip"), now = cost_of("ladder/logsumexp");
  EXPECT_EQ(before.saves, FLASHBENCH_SAVES_M_AND_L);
  EXPECT_EQ(now.saves, FLASHBENCH_SAVES_LSE);
  EXPECT_EQ(now.traffic.written[FLASHBENCH_STATISTICS], heads * seq * 4);
  EXPECT_EQ(before.traffic.written[FLASHBENCH_STATISTICS], heads * seq * 8);
}

// A block has one Q tile: it reads every key that its queries see, and carries O through memory.
TEST(Ladder, WithoutQOuterABlockOfEachQTileReadsTheKeysItself) {
  const RungCost v2 = cost_of("ladder/logsumexp", FLASHBENCH_CAUSAL);
  const RungCost now = cost_of("without/q-outer", FLASHBENCH_CAUSAL);
  const double visits = (tiles + 1) / 2;  // of a Q tile, on average
  EXPECT_EQ(now.flops, v2.flops);
  EXPECT_EQ(now.traffic.read[FLASHBENCH_K], visits * matrix);
  EXPECT_EQ(now.traffic.read[FLASHBENCH_K], v2.traffic.read[FLASHBENCH_K]);
  EXPECT_EQ(now.traffic.read[FLASHBENCH_Q], visits * matrix);
  EXPECT_EQ(now.traffic.read[FLASHBENCH_O], (visits - 1) * 2 * matrix);
  EXPECT_EQ(now.workspace, heads * seq * (d + 2) * 4);
}

TEST(Ladder, WithoutCausalSkipTheWorkIsThatOfTheFullProblem) {
  EXPECT_EQ(cost_of("without/causal-skip", FLASHBENCH_CAUSAL).flops,
            cost_of("ladder/logsumexp", FLASHBENCH_FULL).flops);
}

TEST(Ladder, WithoutLogsumexpIsTheRungBelowIt) {
  expect_same_bytes(cost_of("without/logsumexp"), cost_of("ladder/causal-skip"));
  EXPECT_EQ(cost_of("without/logsumexp").saves, FLASHBENCH_SAVES_M_AND_L);
}

TEST(Ladder, ARungIsBuiltInBf16Alone) {
  const FlashbenchDevice device = tests::hopper();
  FlashbenchProblem p = problem(FLASHBENCH_FULL);
  p.dtype = FLASHBENCH_FP16;
  FlashbenchMessage message{};
  for (const Step& step : ladder) {
    const FlashbenchImplementation* impl = find(step.facts.name);
    ASSERT_NE(impl, nullptr) << step.facts.name;
    EXPECT_EQ(impl->supports(&p, &device, &message), FLASHBENCH_UNSUPPORTED) << step.facts.name;
    EXPECT_THAT(message.text, ::testing::HasSubstr("dtype"));
  }
}

// Two blocks of every rung find room in the shared memory of an SM, three of none: each block takes
// 1 KiB more than it asks for.
TEST(Ladder, TwoBlocksFitAMultiprocessorOnEveryRungAndThreeOnNone) {
  constexpr std::int64_t multiprocessor = 233472, reserved = 1024;
  FlashbenchDevice device{};
  device.backend = FLASHBENCH_CUDA;
  device.compute_capability = 90;
  FlashbenchProblem p = problem(FLASHBENCH_FULL);
  FlashbenchMessage message{};
  for (const auto& steps : {std::vector<Step>(ladder.begin(), ladder.end()),
                            std::vector<Step>(without.begin(), without.end())})
    for (const Step& step : steps)
      for (p.head_dim = 64; p.head_dim <= 128; p.head_dim += 64) {
        const FlashbenchImplementation* impl = find(step.facts.name);
        ASSERT_NE(impl, nullptr) << step.facts.name;
        device.shared_bytes_per_block = multiprocessor / 2 - reserved;
        EXPECT_EQ(impl->supports(&p, &device, &message), FLASHBENCH_OK) << step.facts.name;
        device.shared_bytes_per_block = multiprocessor / 3 - reserved;
        EXPECT_EQ(impl->supports(&p, &device, &message), FLASHBENCH_UNSUPPORTED) << step.facts.name;
      }
}

}  // namespace
}  // namespace flashbench::kernels
