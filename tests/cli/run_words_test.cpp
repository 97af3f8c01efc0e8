// What the flags of `flashbench run` say, and what is refused.
#include "cli/run_words.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "cli/commands.hpp"
#include "support/temporary_folder.hpp"

namespace flashbench {
namespace {

using test::TemporaryFolder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::string refusal(const Arguments& arguments) {
  try {
    read_run_words(arguments);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(RunWords, AxesTakeListsAndRanges) {
  const RunWords words = read_run_words({"--seq", "0,512:2k:*2", "--seq", "7", "--impl=v1,v2",
                                         "--scale", "-0.125", "--causal", "--batch", "auto,2"});
  const Sweep& sweep = words.request.sweeps.at(0);
  EXPECT_THAT(sweep.seq, ElementsAre(0, 512, 1024, 2048, 7));
  EXPECT_THAT(sweep.impl, ElementsAre("v1", "v2"));
  EXPECT_THAT(sweep.scale, ElementsAre(-0.125));
  EXPECT_THAT(sweep.mask, ElementsAre(Mask::causal));
  EXPECT_THAT(sweep.batch, ElementsAre(automatic, 2));
}

TEST(RunWords, MinusZeroIsTheSameScaleAsZero) {
  const RunWords words = read_run_words({"--scale", "-0,0,-0.0"});
  for (const double scale : words.request.sweeps.at(0).scale) EXPECT_FALSE(std::signbit(scale));
}

TEST(RunWords, ALabelMustBeText) {
  EXPECT_THAT(refusal({"--label", "a\xff"}),
              testing::AllOf(HasSubstr("--label"), HasSubstr("UTF-8")));
  EXPECT_THAT(refusal({"--label", ""}), HasSubstr("--label"));
  EXPECT_EQ(read_run_words({"--label", "\u00b5s | \u6ce8"}).request.options.label,
            "\u00b5s | \u6ce8");
}

TEST(RunWords, MeasuringOptionsArePlainOrPercent) {
  const RunWords words =
      read_run_words({"--precision", "0.5%", "--time-budget", "0.25", "--samples", "20",
                      "--timeout", "5", "--no-check", "--strict"});
  const Options& o = words.request.options;
  EXPECT_DOUBLE_EQ(o.precision, 0.005);
  EXPECT_DOUBLE_EQ(o.time_budget_s, 0.25);
  EXPECT_EQ(o.min_samples, 20);
  EXPECT_EQ(o.check, Check::none);
  EXPECT_TRUE(o.strict);
}

TEST(RunWords, MistypedFlagsNameTheNearest) {
  EXPECT_THAT(refusal({"--sqe", "1024"}),
              testing::AllOf(HasSubstr("--sqe"), HasSubstr("\"--seq\"")));
  EXPECT_THAT(refusal({"--headdim=64"}), HasSubstr("\"--head-dim\""));
  EXPECT_THAT(refusal({"--dtype", "fp61"}),
              testing::AllOf(HasSubstr("--dtype"), HasSubstr("\"fp16\"")));
  EXPECT_THAT(refusal({"--device", "cuba"}), HasSubstr("\"cuda\""));
  EXPECT_THAT(refusal({"v2"}), HasSubstr("\"v2\""));
}

class HalfNumbers : public testing::TestWithParam<const char*> {};
TEST_P(HalfNumbers, NameFlagAndValue) {
  EXPECT_THAT(refusal({"--batch", GetParam()}),
              testing::AllOf(testing::StartsWith("--batch"), HasSubstr(GetParam())));
}
INSTANTIATE_TEST_SUITE_P(RunWords, HalfNumbers,
                         testing::Values("3x2", "1e3", "0x20", "3.5", "-1", "0",
                                         "99999999999999999999", ""));

TEST(RunWords, MissingValuesNameTheFlag) {
  EXPECT_THAT(refusal({"--batch"}), HasSubstr("--batch"));
  EXPECT_THAT(refusal({"--batch="}), HasSubstr("--batch"));
  EXPECT_THAT(refusal({"--batch", "--seq", "64"}), HasSubstr("--batch"));
  EXPECT_THAT(refusal({"--seq", "64", "--json"}), HasSubstr("--json"));
}

TEST(RunWords, ScalarsStandOnce) {
  EXPECT_THAT(refusal({"--iters", "1", "--iters", "2"}), HasSubstr("--iters"));
  EXPECT_THAT(refusal({"--json", "-", "--json", "-"}), HasSubstr("--json"));
}

TEST(RunWords, ContradictionsAreRefused) {
  EXPECT_THAT(refusal({"--no-check", "--check-only"}), HasSubstr("contradict"));
  EXPECT_THAT(refusal({"--iters", "3", "--time-budget", "1"}), HasSubstr("contradict"));
  EXPECT_THAT(refusal({"--causal", "--mask", "full"}), HasSubstr("contradict"));
  EXPECT_THAT(refusal({"--profile", "--counters"}), HasSubstr("contradict"));
  EXPECT_THAT(refusal({"--json", "-", "--csv", "-"}), HasSubstr("stdout"));
  EXPECT_THAT(refusal({"--threshold", "5%"}), HasSubstr("--baseline"));
}

TEST(RunWords, ABaselineNeedsTimesToCompare) {
  EXPECT_THAT(refusal({"--check-only", "--baseline", "b.json"}),
              testing::AllOf(HasSubstr("--check-only and --baseline"), HasSubstr("leave one")));
  const TemporaryFolder folder;
  const std::string config =
      folder.write("c.json", R"({"measurement": {"check-only": true}, "sweeps": [{}]})");
  EXPECT_THAT(refusal({"--config", config, "--baseline", "b.json"}),
              HasSubstr("--baseline and \"check-only\" of " + config));
  EXPECT_EQ(read_run_words({"--config", config, "--baseline", "b.json", "--no-check"})
                .request.options.baseline_file,
            "b.json");
}

TEST(RunWords, AProfiledPassIsNotCheckedAndIsWaitedForLonger) {
  const Options profiled = read_run_words({"--profile"}).request.options;
  EXPECT_EQ(profiled.check, Check::none);
  EXPECT_EQ(profiled.timeout_s, 3600);
  EXPECT_EQ(read_run_words({"--profile", "--timeout", "5"}).request.options.timeout_s, 5);
}

TEST(RunWords, AConfigIsNotWrittenOver) {
  const TemporaryFolder folder;
  const std::string config = folder.write("c.json", R"({"sweeps": [{"seq": 64}]})");
  EXPECT_THAT(refusal({"--config", config, "--json", config}),
              testing::AllOf(HasSubstr("--config " + config), HasSubstr("--json")));
  EXPECT_EQ(read_run_words({"--config", "quick", "--json", folder / "quick"}).config, "quick");
}

TEST(RunWords, FlagsOverrideTheConfigWhereverTheyStand) {
  const TemporaryFolder folder;
  const std::string config = folder.write("c.json", R"({"device": "cpu",
    "measurement": {"iters": 5, "seed": 7},
    "sweeps": [{"impl": ["v1"], "seq": [64]}, {"impl": ["v2"], "seq": [128], "causal": true}]})");
  const RunWords words =
      read_run_words({"--seq", "32", "--time-budget", "2", "--no-causal", "--config", config});
  ASSERT_EQ(words.request.sweeps.size(), 2u);
  for (const Sweep& sweep : words.request.sweeps) {
    EXPECT_THAT(sweep.seq, ElementsAre(32));
    EXPECT_THAT(sweep.mask, ElementsAre(Mask::full));
  }
  EXPECT_EQ(words.request.options.iters, std::nullopt);
  EXPECT_EQ(words.request.options.seed, 7u);
  EXPECT_EQ(words.request.options.device, "cpu");
}

TEST(RunWords, WhatTheConfigSaysIsNamedByItsPlaceUnlessAFlagOverridesIt) {
  const TemporaryFolder folder;
  const auto config = [&](const char* text) { return folder.write("c.json", text); };
  const std::string device = config(R"({"device": "gpu", "sweeps": [{}]})");
  EXPECT_THAT(refusal({"--config", device}), StartsWith(device + ": $.device: \"gpu\" is none of"));
  EXPECT_THAT(refusal({"--config", device, "--device", "gpu"}), StartsWith("--device: \"gpu\""));
  const std::string view = config(R"({"view": "memmory", "sweeps": [{}]})");
  EXPECT_THAT(refusal({"--config", view}), StartsWith(view + ": $.view: there is no view"));
  EXPECT_THAT(refusal({"--config", view, "--view", "memmory"}), StartsWith("--view: "));
  const std::string axes = config(R"({"sweeps": [{"seq": 64, "mask": "full"}]})");
  const RunWords words = read_run_words({"--config", axes, "--kv-heads", "3", "--causal"});
  const Sweep& sweep = words.request.sweeps.at(0);
  EXPECT_EQ(sweep.called("seq"), axes + ": $.sweeps[0].seq");
  EXPECT_EQ(sweep.called("kv-heads"), "--kv-heads");
  EXPECT_EQ(sweep.called("mask"), "--mask");
}

TEST(RunWords, OutputsAreCheckedBeforeAnyWork) {
  EXPECT_THAT(refusal({"--json", "/proc/no/such/r.json"}), HasSubstr("/proc/no/such/r.json"));
  EXPECT_THAT(refusal({"--pivot", "sek"}), HasSubstr("\"seq\""));
  EXPECT_THAT(refusal({"--view", "memmory"}), HasSubstr("\"memory\""));
}

TEST(Help, NamesEveryOptionThatWorksAndNoOther) {
  const std::string help = run_help();
  for (const char* option :
       {"--impl", "--seq-k", "--causal", "--load", "--precision", "--json", "--dry-run", "--resume",
        "--baseline", "--plugin", "--against", "--explain", "--counters", "--profile", "selftest",
        "doctor", "claims"})
    EXPECT_THAT(help, HasSubstr(option));
}

TEST(Dispatch, RefusesCommandsThatAreNotThere) {
  EXPECT_EQ(run_command_line({"comapre"}), 2);
  EXPECT_EQ(run_command_line({"compare", "one.json"}), 2);
  EXPECT_EQ(run_command_line({"--version"}), 0);
  EXPECT_EQ(run_command_line({"list", "--help"}), 0);
}

}  // namespace
}  // namespace flashbench
