// Config files: what is wrong in one is named where it stands, and nothing runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/run_program.hpp"
#include "support/temporary_folder.hpp"
#include "support/text.hpp"

namespace flashbench::test {
namespace {

using testing::HasSubstr;

struct Wrong {
  const char* name;
  const char* text;
  std::vector<const char*> named;  // each must stand in the message
};

class WrongConfig : public testing::TestWithParam<Wrong> {};
TEST_P(WrongConfig, IsExitTwoNamingWhatIsWrong) {
  const TemporaryFolder folder;
  const std::string config = folder.write("wrong.json", GetParam().text);
  const Outcome run = flashbench_says({"run", "--device", "cpu", "--config", config});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_LT(run.seconds, 2);
  EXPECT_THAT(run.err, HasSubstr("wrong.json"));
  for (const char* part : GetParam().named) EXPECT_THAT(run.err, HasSubstr(part));
}
INSTANTIATE_TEST_SUITE_P(
    Config, WrongConfig,
    testing::Values(
        Wrong{"misspelt", R"({"sweeps":[{"headdim":[64]}]})", {"headdim", "head-dim", "sweeps"}},
        Wrong{"wrong_case", R"({"Iters":5,"sweeps":[{"seq":64}]})", {"Iters"}},
        Wrong{"repeated", R"({"sweeps":[{"seq":[512],"seq":[1024]}]})", {"seq", "sweeps"}},
        Wrong{"near_value", R"({"sweeps":[{"dtype":"fp61"}]})", {"fp61", "fp16", "dtype"}},
        Wrong{"wrong_type", R"({"sweeps":[{"causal":"true"}]})", {"causal"}},
        Wrong{"trailing_comma", "{\"sweeps\":[\n  {\"seq\":64,}\n]}", {"line 2", "column"}},
        Wrong{"no_sweeps", R"({"sweeps":[]})", {"sweeps"}}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Config, AFileThatIsNotThereIsExitTwo) {
  const Outcome run = flashbench_says({"run", "--device", "cpu", "--config", "/no/such/file.json"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("/no/such/file.json"));
}

TEST(Config, WhatNeverEndsIsRefused) {
  const Outcome run = flashbench_says({"run", "--device", "cpu", "--config", "/dev/zero"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("/dev/zero: is no config"));
}

TEST(Config, NothingFollowsAZeroByteUnread) {
  const TemporaryFolder folder;
  const std::string text = R"({"sweeps":[{"seq":64}]})";
  const std::string config = folder.write("zero.json", text + std::string(1, '\0') + "[");
  const Outcome run = flashbench_says({"run", "--device", "cpu", "--dry-run", "--config", config});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("zero byte"));
}

TEST(Config, ItsTextDoesNotCommandTheTerminal) {
  const TemporaryFolder folder;
  const std::string config = folder.write("red.json", R"({"sweeps":[{"dtype":"\u001b[31m"}]})");
  const Outcome run = flashbench_says({"run", "--device", "cpu", "--config", config});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, testing::Not(HasSubstr("\x1b")));
}

TEST(Config, CommentsAreAllowedAndFlagsOverride) {
  const TemporaryFolder folder;
  const std::string config = folder.write(
      "good.json",
      "{ // one problem\n  \"sweeps\": [{\"impl\": [\"v1\", \"v2\"], \"seq\": 64}]\n}\n");
  const Outcome run = flashbench_says({"run", "--device", "cpu", "--config", config, "--impl", "v2",
                                       "--time-budget", "0.05", "--json", "-"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto report = strict_json(run.out);
  ASSERT_EQ(report.at("rows").size(), 1u);
  EXPECT_EQ(report.at("rows")[0].at("impl"), "v2");
}

}  // namespace
}  // namespace flashbench::test
