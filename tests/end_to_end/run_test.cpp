// A whole run on the CPU, from words to rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/run_program.hpp"
#include "support/temporary_folder.hpp"
#include "support/text.hpp"

namespace flashbench::test {
namespace {

const Environment no_gpu{{"CUDA_VISIBLE_DEVICES", ""}};

TEST(Run, ThreeImplementationsGiveThreeOkRows) {
  const TemporaryFolder folder;
  const Outcome run =
      flashbench_says({"--seq", "256", "--causal", "--json", folder / "r.json"}, no_gpu);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto report = strict_json(read_file(folder / "r.json"));
  EXPECT_EQ(report.at("schema"), "flashbench.report/1");
  EXPECT_EQ(report.at("complete"), true);
  ASSERT_EQ(report.at("rows").size(), 3u);
  const char* names[] = {"naive", "v1", "v2"};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& row = report.at("rows")[i];
    EXPECT_EQ(row.at("impl"), names[i]);
    EXPECT_EQ(row.at("status"), "ok") << row.at("reason");
    EXPECT_GT(row.at("time_ms").at("median"), 0);
    EXPECT_GE(row.at("time_ms").at("n"), 10);
    EXPECT_GT(row.at("tflops"), 0);
  }
}

TEST(Run, IsWhatTheBareCommandDoes) {
  const Arguments words{"--device", "cpu", "--impl", "v2", "--seq", "64,128", "--dry-run"};
  Arguments with_run{"run"};
  with_run.insert(with_run.end(), words.begin(), words.end());
  EXPECT_EQ(flashbench_says(words).out, flashbench_says(with_run).out);
}

TEST(Run, ADryRunSaysOfMemoryAndTrafficWhatTheRunSays) {
  const Arguments words{"--device", "cpu",     "--seq",   "128", "--dtype", "fp32",
                        "--pass",   "fwd,bwd", "--iters", "1",   "--json",  "-"};
  Arguments dry = words;
  dry.emplace_back("--dry-run");
  const auto planned = strict_json(flashbench_says(dry).out).at("rows");
  const auto measured = strict_json(flashbench_says(words).out).at("rows");
  ASSERT_EQ(planned.size(), 6u);
  ASSERT_EQ(measured.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i) {
    const auto& memory = measured[i].at("memory");
    for (const char* part : {"inputs_bytes", "outputs_bytes", "workspace_bytes"})
      EXPECT_EQ(planned[i].at("memory").at(part), memory.at(part))
          << part << " of " << measured[i].at("key");
    EXPECT_EQ(planned[i].at("traffic").at("model"), measured[i].at("traffic").at("model"));
  }
}

TEST(Run, ItersIsAnExactCount) {
  const Outcome run = flashbench_says(
      {"run", "--device", "cpu", "--impl", "v1,v2", "--seq", "64", "--iters", "7", "--json", "-"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto report = strict_json(run.out);
  for (const auto& row : report.at("rows")) EXPECT_EQ(row.at("time_ms").at("n"), 7);
}

TEST(Run, TensOfThousandsOfSamplesOfATinyProblemFitItsReplies) {
  const Outcome run =
      flashbench_says({"run", "--device", "cpu", "--impl", "v1,v2", "--seq", "1", "--head-dim", "8",
                       "--cache", "warm", "--warmup", "50000", "--json", "-"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto report = strict_json(run.out);
  EXPECT_EQ(report.at("rows").size(), 2u);
  for (const auto& row : report.at("rows")) EXPECT_EQ(row.at("status"), "ok");
}

TEST(Run, CheckOnlyTimesNothing) {
  const Outcome run =
      flashbench_says({"run", "--device", "cpu", "--seq", "64", "--check-only", "--json", "-"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto report = strict_json(run.out);
  for (const auto& row : report.at("rows")) {
    EXPECT_TRUE(row.at("time_ms").is_null());
    EXPECT_TRUE(row.at("tflops").is_null());
  }
}

}  // namespace
}  // namespace flashbench::test
