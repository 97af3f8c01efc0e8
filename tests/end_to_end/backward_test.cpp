// The backward through the real command: judged, deterministic, the same after any number of runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "support/npy.hpp"
#include "support/run_program.hpp"
#include "support/temporary_folder.hpp"
#include "support/text.hpp"

namespace flashbench::test {
namespace {

nlohmann::json report_of(Arguments words) {
  words.insert(words.begin(), {"run", "--device", "cpu", "--json", "-"});
  const Outcome run = flashbench_says(words, {}, 240);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  return strict_json(run.out);
}

std::set<std::string> tensors_that_pass(const nlohmann::json& row) {
  std::set<std::string> names;
  for (const auto& [tensor, check] : row.at("numerics").items())
    if (check.at("verdict") == "pass") names.insert(tensor);
  return names;
}

TEST(Backward, PassesTheJudgeInEveryDtypeMaskAndPass) {
  const auto report = report_of({"--pass",         "bwd,fwd+bwd", "--dtype",    "fp32,fp16,bf16",
                                 "--mask",         "full,causal", "--batch",    "2",
                                 "--heads",        "4",           "--kv-heads", "2",
                                 "--seq",          "190",         "--seq-k",    "300",
                                 "--head-dim",     "64",          "--iters",    "2",
                                 "--deterministic"});
  ASSERT_EQ(report.at("rows").size(), 3u * 2 * 3 * 2);
  for (const auto& row : report.at("rows")) {
    SCOPED_TRACE(row.at("key").dump());
    EXPECT_EQ(row.at("status"), "ok") << row.at("reason");
    EXPECT_EQ(row.at("deterministic"), true);
    std::set<std::string> right{"dq", "dk", "dv"};
    if (row.at("pass") == "fwd+bwd") right.insert({"o", "lse"});
    EXPECT_EQ(tensors_that_pass(row), right);
  }
}

TEST(Backward, PassesTheJudgeWhereQueriesSeeNothingAndWhereThereIsNothing) {
  for (const auto& [seq_q, seq_k] : {std::pair{"70", "3"}, {"5", "0"}, {"0", "5"}, {"1", "1"}}) {
    const auto report = report_of({"--pass", "bwd,fwd+bwd", "--mask", "full,causal", "--seq", seq_q,
                                   "--seq-k", seq_k, "--head-dim", "16", "--check-only"});
    for (const auto& row : report.at("rows"))
      EXPECT_EQ(row.at("status"), "ok") << row.at("key").dump() << row.at("reason");
  }
}

TEST(Backward, IsTheSameAfterOneRunAndAfterAHundred) {
  for (const char* iterations : {"1", "100"}) {
    const auto report = report_of({"--pass", "bwd", "--dtype", "fp16", "--seq", "300", "--head-dim",
                                   "16", "--iters", iterations});
    ASSERT_EQ(report.at("rows").size(), 3u);
    for (const auto& row : report.at("rows")) {  // the last run must hash to what was judged
      EXPECT_EQ(row.at("status"), "ok") << row.at("reason");
      EXPECT_EQ(row.at("time_ms").at("n"), std::stoi(iterations));
    }
  }
}

TEST(Backward, CountsOfBothPassesAreThoseOfEachTogether) {
  const auto report =
      report_of({"--pass", "fwd,bwd,fwd+bwd", "--seq", "600", "--head-dim", "16", "--check-only"});
  std::map<std::string, std::map<std::string, double>> exponentials;
  for (const auto& row : report.at("rows"))
    exponentials[row.at("impl")][row.at("pass")] =
        row.at("counts").at("exponentials").get<double>();
  ASSERT_EQ(exponentials.size(), 3u);
  for (const auto& [impl, of] : exponentials) {
    EXPECT_GT(of.at("bwd"), 0) << impl;
    EXPECT_EQ(of.at("fwd+bwd"), of.at("fwd") + of.at("bwd")) << impl;
  }
}

TEST(Backward, OfAGroupAddsUpInItsOwnKvHead) {
  const TemporaryFolder in, out;
  const auto constant = [](double value) { return [value](auto...) { return value; }; };
  write_npy(in / "q.npy", tensor(1, 64, 8, 64, constant(0)), "<f4");
  write_npy(in / "k.npy", tensor(1, 64, 2, 64, constant(1)), "<f4");
  write_npy(in / "v.npy", tensor(1, 64, 2, 64, constant(1)), "<f4");
  const auto by_head = [](auto, auto, auto h, auto) { return h < 4 ? 1.0 : 2.0; };
  write_npy(in / "do.npy", tensor(1, 64, 8, 64, by_head), "<f4");
  report_of({"--load", in.path().string(), "--dump", out.path().string(), "--pass", "bwd",
             "--check-only"});
  int found = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(out.path())) {
    if (entry.path().filename() != "dv.npy") continue;
    ++found;
    const Array dv = read_npy(entry.path());
    for (int s = 0; s < 64; ++s)
      for (int h = 0; h < 2; ++h)  // four query heads each, 64 queries of weight 1/64
        ASSERT_NEAR(dv.at(0, s, h, 7), h == 0 ? 4 : 8, 1e-5) << entry.path();
  }
  EXPECT_EQ(found, 3);
}

}  // namespace
}  // namespace flashbench::test
