// FLOPs as the field counts them, whatever implements them. --dry-run: the problems are large.
#include <gtest/gtest.h>

#include <map>

#include "support/run_program.hpp"
#include "support/text.hpp"

namespace flashbench::test {
namespace {

nlohmann::json dry_run(Arguments arguments) {
  arguments.insert(arguments.begin(), {"run", "--device", "cpu", "--dry-run", "--json", "-"});
  const Outcome run = flashbench_says(arguments);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  return strict_json(run.out);
}

TEST(Counts, CausalIsHalfAndTheExactCountStandsBeside) {
  const auto report = dry_run({"--impl", "v2", "--batch", "4", "--heads", "16", "--seq", "4096",
                               "--head-dim", "128", "--mask", "full,causal"});
  ASSERT_EQ(report.at("rows").size(), 2u);
  const auto& full = report.at("rows")[0].at("flops");
  const auto& causal = report.at("rows")[1].at("flops");
  EXPECT_EQ(full.at("counted").get<double>(), 549755813888);
  EXPECT_EQ(causal.at("counted").get<double>(), 274877906944);
  EXPECT_EQ(causal.at("exact").get<double>(), 274945015808);
  EXPECT_NE(causal.at("convention"), full.at("convention"));
}

TEST(Counts, BackwardIsTwoAndAHalfForwardAndBothAreThreeAndAHalf) {
  const auto report = dry_run({"--impl", "naive,v2", "--batch", "4", "--heads", "16", "--seq",
                               "4096", "--head-dim", "128", "--pass", "fwd,bwd,fwd+bwd"});
  const std::map<std::string, double> right{
      {"fwd", 549755813888}, {"bwd", 1374389534720}, {"fwd+bwd", 1924145348608}};
  ASSERT_EQ(report.at("rows").size(), 6u);
  for (const auto& row : report.at("rows"))
    EXPECT_EQ(row.at("flops").at("counted").get<double>(), right.at(row.at("pass")))
        << row.at("impl");
}

TEST(Counts, TheLayoutDoesNotChangeThem) {
  const auto report = dry_run({"--impl", "v2", "--dtype", "bf16", "--batch", "1", "--heads", "48",
                               "--seq", "21730", "--head-dim", "64", "--layout", "bshd,bhsd"});
  ASSERT_EQ(report.at("rows").size(), 2u);
  for (const auto& row : report.at("rows"))
    EXPECT_EQ(row.at("flops").at("counted").get<double>(), 5802306355200);
}

}  // namespace
}  // namespace flashbench::test
