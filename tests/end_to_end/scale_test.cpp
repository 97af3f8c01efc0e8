// Scales far from 1/sqrt(d) through the real command.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/run_program.hpp"
#include "support/text.hpp"

namespace flashbench::test {
namespace {

using ::testing::HasSubstr;

Outcome check(const std::string& scales, const Arguments& more = {}) {
  Arguments words{"run", "--device", "cpu", "--check-only",     "--seq", "128", "--head-dim",
                  "64",  "--json",   "-",   "--scale=" + scales};
  words.insert(words.end(), more.begin(), more.end());
  return flashbench_says(words, {}, 240);
}

TEST(Scale, MayBeHugeNegativeOrZeroInEveryDtypeAndPass) {
  const Outcome run = check("1e30,-1e30,1e6,0", {"--pass", "fwd,bwd,fwd+bwd", "--mask",
                                                 "full,causal", "--dtype", "fp32,fp16,bf16"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const nlohmann::json report = strict_json(run.out);
  ASSERT_EQ(report.at("rows").size(), 4u * 3 * 2 * 3 * 3);
  for (const auto& row : report.at("rows"))
    EXPECT_EQ(row.at("status"), "ok") << row.at("key").dump() << row.at("reason");
}

// Scores of some tens are rounded so far in fp32 that O moves by more than its other roundings.
TEST(Scale, MayMakeScoresLargeInFp32) {
  const Outcome run = flashbench_says({"run", "--device", "cpu", "--check-only", "--batch", "3",
                                       "--heads", "5", "--seq", "129", "--seq-k", "257",
                                       "--head-dim", "112", "--scale", "1,20", "--seed", "6"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
}

// All P come out as 1 where an LSE in fp32 holds nothing of their sum.
TEST(Scale, MayBeHugeWhereAllScoresAreTheSame) {
  const Outcome run = check("1e7,1e30", {"--pass", "bwd", "--init", "constant", "--dtype",
                                         "fp32,fp16,bf16", "--seq-k", "300"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
}

TEST(Scale, IsUnsupportedWhereScoresGoBeyondFp32) {
  const Outcome run = check("1e38,-1e38", {"--pass", "fwd,bwd", "--dtype", "fp16"});
  EXPECT_EQ(run.exit_code, 4) << run.err;
  const nlohmann::json report = strict_json(run.out);
  ASSERT_EQ(report.at("rows").size(), 2u * 2 * 3);
  for (const auto& row : report.at("rows")) {
    EXPECT_EQ(row.at("status"), "unsupported") << row.at("key").dump() << row.at("reason");
    EXPECT_THAT(row.at("reason").get<std::string>(),
                HasSubstr("the largest scale that surely fits"));
  }
}

}  // namespace
}  // namespace flashbench::test
