#include "schedule/row_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace flashbench {
namespace {

using testing::HasSubstr;
using testing::Not;

RowRun row_with(int samples, double spread, int turns = 8) {
  RowRun run;
  run.turns = turns;
  for (int i = 0; i < samples; ++i) run.samples.push_back({1 + spread * (i % 7), i % 2});
  return run;
}

TEST(StopRule, WantsSamplesAndPrecision) {
  const Options options;
  EXPECT_FALSE(enough(row_with(9, 0), options));
  EXPECT_TRUE(enough(row_with(10, 0), options));
  EXPECT_FALSE(enough(row_with(30, 0.1), options));
  EXPECT_FALSE(enough(row_with(100, 0, 1), options)) << "one turn has met nobody";
}

TEST(StopRule, EndsWithTheBudget) {
  RowRun run = row_with(3, 0.1);
  run.spent_s = 1;
  EXPECT_TRUE(enough(run, Options{}));
  EXPECT_FALSE(precise(run, Options{}));
}

TEST(StopRule, CountsExactly) {
  Options options;
  options.iters = 12;
  RowRun run = row_with(0, 0, 0);
  EXPECT_EQ(next_turn(run, options).count, 1);
  run = row_with(11, 0);
  run.spent_s = 100;
  EXPECT_FALSE(enough(run, options));
  EXPECT_EQ(next_turn(run, options).count, 1);
  EXPECT_EQ(next_turn(run, options).first_set, 1);
  EXPECT_TRUE(enough(row_with(12, 9), options));
}

TEST(CpuBound, IsWhatTakesLongerToEnqueueThanTheDelayCovers) {
  RowRun run = row_with(10, 0);
  run.enqueue_ms = 5;
  EXPECT_FALSE(cpu_bound(run));
  run.enqueue_ms = 20;
  EXPECT_TRUE(cpu_bound(run));
}

TEST(DeviceMemory, IsWhatTheFirstOutputTookWhenItsInstanceWasMade) {
  Row row;
  reply::Output output;
  output.device_bytes = 1 << 20;
  take_output(row, output);
  output.device_bytes = 0;
  take_output(row, output);
  EXPECT_EQ(row.memory.device_bytes, 1 << 20);
}

TEST(Turn, IsShortUnlessItWouldHoldFewSamples) {
  Options options;
  EXPECT_DOUBLE_EQ(*next_turn(RowRun{}, options).for_ms, 25);
  RowRun slow;
  slow.samples = {{10, 0}, {10, 1}};
  EXPECT_DOUBLE_EQ(*next_turn(slow, options).for_ms, 40);
  slow.samples = {{500, 0}};
  EXPECT_DOUBLE_EQ(*next_turn(slow, options).for_ms, 100);
}

TEST(Turn, IsAnEighthOfASmallBudget) {
  Options options;
  options.time_budget_s = 0.04;
  EXPECT_DOUBLE_EQ(*next_turn(RowRun{}, options).for_ms, 5);
}

TEST(Patience, GrowsWithTheWorkOfAPassOnAThread) {
  Row row;
  EXPECT_DOUBLE_EQ(patience_s(row, {}), 0);
  row.cost.emplace();
  for (const double flops : {4e12, 2e12}) row.cost->kernels.emplace_back().flops = flops;
  const double alone = patience_s(row, {});
  EXPECT_GT(alone, 600) << "6 TFLOP take minutes on a slow core";
  DeviceFacts device;
  device.multiprocessors = 4;
  EXPECT_DOUBLE_EQ(patience_s(row, device), alone / 4);
  row.cost->kernels.emplace_back().exponentials = 1e12;  // what binds with a head_dim of 8
  EXPECT_GT(patience_s(row, device), 5 * alone / 4);
  device.multiprocessors = 0;
  EXPECT_GE(patience_s(row, device), alone);
}

TEST(StartingOver, ForgetsWhatWasMeasured) {
  RowRun run = row_with(5, 0);
  run.readings.resize(3);
  run.start_over();
  EXPECT_TRUE(run.samples.empty());
  EXPECT_TRUE(run.readings.empty());
}

TEST(Checks, KeepTheWorstOfBothSets) {
  TensorCheck good, bad;
  good.tensor = bad.tensor = "o";
  good.verdict = Verdict::pass;
  good.ratio = 0.2;
  good.max_abs = 0.5;
  good.rows_checked = bad.rows_checked = 8;
  bad.verdict = Verdict::fail;
  bad.ratio = 3;
  bad.max_abs = 0.1;
  bad.reason = "O is off";
  for (const auto& [first, second] : {std::pair(good, bad), std::pair(bad, good)}) {
    std::vector<TensorCheck> total{first};
    add_checks(total, {second});
    ASSERT_EQ(total.size(), 1u);
    EXPECT_EQ(total[0].verdict, Verdict::fail);
    EXPECT_EQ(total[0].ratio, 3);
    EXPECT_EQ(total[0].max_abs, 0.5);
    EXPECT_EQ(total[0].rows_checked, 16);
    EXPECT_EQ(failed_check(total), "O is off");
  }
}

TEST(CommandLine, SpellsOutEveryAxis) {
  Case what;
  what.impl = "v2";
  what.problem.seq_q = 64;
  what.problem.seq_k = 128;
  what.problem.scale = 0.08838834764831845;
  Options options;
  EXPECT_EQ(
      command_line(what, options, "cpu"),
      "flashbench --device cpu --impl v2 --pass fwd --batch 1 --heads 1 --kv-heads 1 --seq 64 "
      "--seq-k 128 --head-dim 128 --dtype fp32 --mask full --scale 0.08838834764831845 "
      "--layout bshd --cache cold --init normal --seed 1");
  options.load_dir = "it's here";
  options.iters = 5;
  const std::string line = command_line(what, options, "0");
  EXPECT_THAT(line, HasSubstr("--load 'it'\\''s here'"));
  EXPECT_THAT(line, HasSubstr("--iters 5"));
  EXPECT_THAT(line, Not(HasSubstr("--init")));
}

}  // namespace
}  // namespace flashbench
