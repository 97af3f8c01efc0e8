// Memory as it is declared, needed and refused.
#include <map>

#include "end_to_end/recipes/worker.hpp"
#include "support/text.hpp"

namespace flashbench::test {
namespace {

class Memory : public OnDevice {};

// 16 heads, d 64, in 16 bits.
Problem half_precision(std::int64_t length) {
  Problem problem = square(16, length, 64);
  problem.dtype = Dtype::fp16;
  return problem;
}

std::int64_t workspace(TestedWorker& worker, const std::string& impl, std::int64_t length) {
  const request::Describe question{half_precision(length), impl, Pass::fwd};
  return worker.ok<reply::Describe>(question).cost.workspace_bytes;
}

// The GPU's naive keeps 16-bit scores beside a fixed workspace of cuBLAS; the CPU's keeps them in
// fp32, beside one head's Q, K, V and O in fp32.
TEST_F(Memory, NaivesScoresAreItsWorkspaceToTheByte) {
  const std::int64_t scores_of_1024 = std::int64_t{16} * 1024 * 1024 * (on_gpu ? 2 : 4);
  ASSERT_EQ(scores_of_1024, on_gpu ? 33554432 : 2 * 33554432);
  TestedWorker worker;
  std::map<std::int64_t, std::int64_t> beside;
  for (const std::int64_t length : {1024, 8192}) {
    const std::int64_t scores = scores_of_1024 * (length / 1024) * (length / 1024);
    beside[length] = workspace(worker, "naive", length) - scores;
    if (!on_gpu) {
      EXPECT_EQ(beside[length], 4 * length * 64 * 4);
    }
  }
  EXPECT_GE(beside[1024], 0);
  if (on_gpu) {
    EXPECT_EQ(beside[8192], beside[1024]);
  }
}

nlohmann::json memory_of_the_last(const std::string& lengths) {
  const Outcome run =
      flashbench_says({"run", "--device", tested_device(), "--dtype", "fp16", "--impl",
                       "naive,v1,v2", "--batch", "1", "--heads", on_gpu ? "16" : "1", "--head-dim",
                       "64", "--seq", lengths, "--check-only", "--json", "-"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const auto report = strict_json(run.out);
  nlohmann::json memory;
  for (const auto& row : report.at("rows"))
    if (row.at("problem").at("seq_q") == 1024)
      for (const char* part : {"workspace_bytes", "saved_bytes", "inputs_bytes", "outputs_bytes"})
        memory[row.at("impl")][part] = row.at("memory").at(part);
  return memory;
}

TEST_F(Memory, OfAProblemIsTheSameAfterALargerOne) {
  const auto alone = memory_of_the_last("1024");
  EXPECT_EQ(alone.size(), 3u);
  EXPECT_EQ(memory_of_the_last(on_gpu ? "8192,1024" : "2048,1024"), alone);
}

TEST_F(Memory, V2SavesOneLogsumexpARowAndNothingThatGrowsWithTheSquare) {
  TestedWorker worker;
  const request::Describe question{half_precision(8192), "v2", Pass::fwd};
  const auto described = worker.ok<reply::Describe>(question);
  EXPECT_EQ(described.cost.saves, std::vector<std::string>{"lse"});
  const std::int64_t o_bytes = std::int64_t{16} * 8192 * 64 * 2;
  EXPECT_EQ(described.outputs_bytes - o_bytes, 524288);
  EXPECT_EQ(workspace(worker, "v2", 8192), workspace(worker, "v2", 1024));
}

double median_ms(const nlohmann::json& row) {
  return row.at("time_ms").at("median");
}

// On a GPU the middle one needs 8 TiB, on the CPU 1 TiB.
TEST_F(Memory, OneProblemTooLargeIsOomAndTheOthersAreMeasured) {
  const double too_much = on_gpu ? 0x1p43 : 0x1p40;
  if (static_cast<double>(TestedWorker().device.memory_bytes.value()) > too_much)
    GTEST_SKIP() << "this machine has the memory";
  const auto with = [](const Arguments& more) {
    Arguments words{"run",
                    "--device",
                    tested_device(),
                    "--dtype",
                    tested_dtypes().front(),
                    "--impl",
                    "naive",
                    "--batch",
                    "1",
                    "--heads",
                    on_gpu ? "16" : "1",
                    "--head-dim",
                    on_gpu ? "64" : "8",
                    "--time-budget",
                    "0.1",
                    "--json",
                    "-"};
    words.insert(words.end(), more.begin(), more.end());
    return flashbench_says(words, {}, 240);
  };
  const Outcome run = with({"--seq", "1024,524288,2048"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const auto report = strict_json(run.out);  // one document, whatever was warned of
  ASSERT_EQ(report.at("rows").size(), 3u);
  const auto &first = report.at("rows")[0], &large = report.at("rows")[1],
             &last = report.at("rows")[2];
  EXPECT_EQ(first.at("status"), "ok") << first.at("reason");
  EXPECT_EQ(last.at("status"), "ok") << last.at("reason");
  EXPECT_EQ(large.at("status"), "oom") << large.at("reason");
  EXPECT_TRUE(large.at("time_ms").is_null());
  EXPECT_TRUE(large.at("tflops").is_null());
  EXPECT_GE(large.at("memory").at("needed_bytes").get<double>(), too_much);
  EXPECT_EQ(with({"--seq", "64,524288", "--check-only", "--strict"}).exit_code, 1);
  if (!on_gpu) return;  // a CPU's times are those of its neighbours, too
  const Outcome solo = with({"--seq", "2048"});
  const double alone = median_ms(strict_json(solo.out).at("rows")[0]);
  EXPECT_NEAR(median_ms(last), alone, 0.05 * alone);
}

}  // namespace
}  // namespace flashbench::test
