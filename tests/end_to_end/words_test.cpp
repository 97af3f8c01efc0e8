// What the command says and how it ends, before and without any measuring.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "support/places.hpp"
#include "support/run_program.hpp"
#include "support/temporary_folder.hpp"
#include "support/text.hpp"

namespace flashbench::test {
namespace {

using testing::HasSubstr;

const Environment no_gpu{{"CUDA_VISIBLE_DEVICES", ""}};

double median_seconds(const Arguments& arguments) {
  std::vector<double> seconds;
  for (int i = 0; i < 9; ++i) seconds.push_back(flashbench_says(arguments).seconds);
  std::nth_element(seconds.begin(), seconds.begin() + 4, seconds.end());
  return seconds[4];
}

TEST(Words, HelpNamesTheOptionsOnStandardOutput) {
  const Outcome help = flashbench_says({"--help"}, no_gpu);
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_EQ(help.err, "");
  for (const char* option : {"--impl", "--seq", "--head-dim", "--dtype", "--causal", "--device",
                             "--json", "--dry-run", "--check-only"})
    EXPECT_THAT(help.out, HasSubstr(option));
}

TEST(Words, HelpIsACommandToo) {
  EXPECT_EQ(flashbench_says({"help"}, no_gpu).out, flashbench_says({"--help"}, no_gpu).out);
  EXPECT_EQ(flashbench_says({"help", "compare"}, no_gpu).out,
            flashbench_says({"compare", "--help"}, no_gpu).out);
  const Outcome unknown = flashbench_says({"help", "compar"}, no_gpu);
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean \"compare\"?"));
}

TEST(Words, HelpOfInfoSaysThatItShowsBothDevices) {
  const Outcome help = flashbench_says({"info", "--help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_TRUE(contains(help.out, "[the CPU and the GPU]")) << help.out;
  EXPECT_FALSE(contains(help.out, "[auto")) << help.out;
}

TEST(Words, HelpAndVersionStartInUnderFiftyMilliseconds) {
  EXPECT_LT(median_seconds({"--help"}), 0.05);
  EXPECT_LT(median_seconds({"--version"}), 0.05);
}

TEST(Words, VersionIsOneLine) {
  const Outcome version = flashbench_says({"--version"}, no_gpu);
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_EQ(lines_of(version.out).size(), 1u);
  EXPECT_THAT(version.out, HasSubstr("flashbench"));
}

TEST(Words, ListNamesEveryImplementationWithoutGpu) {
  const Outcome list = flashbench_says({"list"}, no_gpu);
  EXPECT_EQ(list.exit_code, 0) << list.err;
  for (const char* name : {"naive", "v1", "v2", "ladder/grid-over-q", "without/logsumexp"})
    EXPECT_THAT(list.out, HasSubstr(name));
}

TEST(Words, TheLadderIsPlannedWithoutGpu) {
  const Outcome plan = flashbench_says({"--config", "ladder", "--dry-run"}, no_gpu);
  EXPECT_EQ(plan.exit_code, 0) << plan.err;
  // 8 problems; forward 7 rungs, 2 ends, 6 leave-one-outs; backward 6 rungs, 2 ends, 4.
  EXPECT_THAT(plan.out, HasSubstr("\n216 cases"));
  const Outcome forward =
      flashbench_says({"--config", "ladder", "--pass", "fwd", "--dry-run"}, no_gpu);
  EXPECT_THAT(forward.out, HasSubstr("\n120 cases"));
}

TEST(Words, DryRunShowsTheCasesAndMeasuresNothing) {
  const Outcome plan = flashbench_says(
      {"--dry-run", "--impl", "naive,v2", "--seq", "512,64k", "--heads", "16"}, no_gpu);
  EXPECT_EQ(plan.exit_code, 0) << plan.err;
  EXPECT_LT(plan.seconds, 2);
  EXPECT_THAT(plan.out, HasSubstr("naive"));
  EXPECT_THAT(plan.out, HasSubstr("65536"));
}

// Of a plugin nobody knows what it has without its device.
TEST(Words, ADryRunWithAPluginSaysThatThereIsNoGpuToAsk) {
  const Arguments words{"--dry-run", "--device", "cuda", "--plugin", "mine.so", "--impl"};
  const auto says = [&](const char* impl) {
    Arguments all = words;
    all.emplace_back(impl);
    return flashbench_says(all, no_gpu);
  };
  const Outcome unknown = says("mine");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_TRUE(contains(lines_of(unknown.err).back(),
                       "what --plugin mine.so has is not known: no usable GPU"))
      << unknown.err;
  const Outcome known = says("v2");
  EXPECT_EQ(known.exit_code, 0) << known.err;
  EXPECT_TRUE(contains(known.err, "--plugin mine.so is left out")) << known.err;
}

TEST(Words, TooManyCasesAreExitTwoNamingTheMost) {
  const Outcome outcome = flashbench_says(
      {"--dry-run", "--device", "cpu", "--seq", "1:1000:+1", "--heads", "1:1000:+1"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_TRUE(contains(outcome.err, "more than 100000 cases")) << outcome.err;
  EXPECT_LT(outcome.seconds, 10);
}

// OpenBLAS would ask for its buffers again and again.
TEST(Words, TooLittleAddressSpaceIsExitThreeAndNoHang) {
  const Outcome outcome =
      Program("/bin/sh", {"-c", "ulimit -v 200000; exec " + flashbench_program +
                                    " --device cpu --impl v2 --seq 128 --time-budget 0.1"})
          .wait(20);
  EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "ulimit -v")) << outcome.err;
}

TEST(Words, ASmallStackIsEnough) {
  const Outcome outcome = Program("/bin/sh", {"-c", "ulimit -s 64; exec " + flashbench_program +
                                                        " --device cpu --impl v2 --dry-run"})
                              .wait();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
}

TEST(Words, NoGpuIsExitThreeWithOneLineInUnderTwoSeconds) {
  const Outcome run = flashbench_says({"run", "--device", "cuda"}, no_gpu);
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_LT(run.seconds, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(lines_of(run.err).size(), 1u) << run.err;
}

TEST(Words, DeviceAutoSaysInOneLineThatTheCpuIsMeasured) {
  const Outcome run =
      flashbench_says({"--impl", "v2", "--seq", "64", "--time-budget", "0.05"}, no_gpu);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const auto lines = lines_of(run.err);
  EXPECT_EQ(std::count_if(lines.begin(), lines.end(),
                          [](const std::string& line) { return contains(line, "CPU"); }),
            1)
      << run.err;
}

TEST(Words, AMistypedFlagNamesTheNearestOne) {
  const Outcome run = flashbench_says({"run", "--sqe", "1024"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("--sqe"));
  EXPECT_THAT(run.err, HasSubstr("--seq"));
  EXPECT_EQ(run.out, "");
}

TEST(Words, AMistypedImplementationNamesTheNearestOne) {
  const Outcome run = flashbench_says({"run", "--device", "cpu", "--impl", "naiv"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("naiv"));
  EXPECT_THAT(run.err, HasSubstr("naive"));
}

class HalfNumbers : public testing::TestWithParam<const char*> {};
TEST_P(HalfNumbers, AreExitTwoNamingFlagAndValue) {
  const TemporaryFolder folder;
  const std::string report = folder / "r.json";
  const Outcome run =
      flashbench_says({"run", "--device", "cpu", "--json", report, "--batch", GetParam()});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("--batch"));
  EXPECT_THAT(run.err, HasSubstr(GetParam()));
  EXPECT_EQ(run.out, "");
  EXPECT_FALSE(std::filesystem::exists(report));
}
INSTANTIATE_TEST_SUITE_P(Words, HalfNumbers,
                         testing::Values("3x2", "1e3", "0x20", "3.5", "-1", "0",
                                         "99999999999999999999", ""));

TEST(Words, AValueForWhatTakesNoneIsExitTwo) {
  for (const char* word : {"--strict=false", "--help=all"}) {
    const Outcome run = flashbench_says({"run", "--device", "cpu", word});
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(run.err, HasSubstr("takes no value")) << word;
    EXPECT_THAT(run.err, HasSubstr(word));
  }
}

TEST(Words, AFlagWithoutItsValueIsExitTwo) {
  const Outcome run = flashbench_says({"run", "--device", "cpu", "--batch"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("--batch"));
}

TEST(Words, HeadsThatKvHeadsDoesNotDivideAreExitTwo) {
  const Outcome run =
      flashbench_says({"run", "--device", "cpu", "--heads", "8", "--kv-heads", "3", "--seq", "64"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("kv-heads"));
}

TEST(Words, AFilterThatMatchesNothingIsExitFour) {
  const Outcome run = flashbench_says(
      {"run", "--device", "cpu", "--seq", "64,128", "--impl", "v1,v2", "--filter", "nosuch"});
  EXPECT_EQ(run.exit_code, 4);
  EXPECT_THAT(run.out + run.err, HasSubstr("0 of 4 cases matched"));
}

TEST(Words, NothingButUnsupportedRowsIsExitFour) {
  const Outcome run =
      flashbench_says({"run", "--device", "cpu", "--head-dim", "63", "--seq", "64", "--json", "-"});
  EXPECT_EQ(run.exit_code, 4);
  const auto report = strict_json(run.out);
  ASSERT_EQ(report.at("rows").size(), 3u);
  for (const auto& row : report.at("rows")) {
    EXPECT_EQ(row.at("status"), "unsupported");
    EXPECT_THAT(row.at("reason").get<std::string>(), HasSubstr("head_dim 63"));
  }
}

TEST(Words, AnUnsupportedRowKeepsNoOtherFromRunning) {
  const Outcome run = flashbench_says({"run", "--device", "cpu", "--impl", "v2", "--head-dim",
                                       "63,64", "--seq", "64", "--check-only", "--json", "-"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const auto report = strict_json(run.out);
  ASSERT_EQ(report.at("rows").size(), 2u);
  EXPECT_EQ(report.at("rows")[0].at("status"), "unsupported");
  EXPECT_EQ(report.at("rows")[1].at("status"), "ok");
}

TEST(Words, AFileThatMayNotGrowIsExitTwoAndNoSignal) {
  const std::string program = flashbench_program;
  Program run("/bin/bash", {"-c", "ulimit -f 0; exec '" + program + "' --version"});
  const Outcome outcome = run.wait(30);
  EXPECT_EQ(outcome.signal, 0);
  EXPECT_EQ(outcome.exit_code, 2);
}

TEST(Words, AnErrorOutputThatCannotBeWrittenChangesNoExitCode) {
  const auto exit_code_of = [](const std::string& words) {
    const int status = std::system((in_bin("flashbench ") + words).c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  EXPECT_EQ(exit_code_of("--bogus 2>/dev/full"), 2);
  EXPECT_EQ(exit_code_of("--bogus <&- >&- 2>&-"), 2);
  EXPECT_EQ(exit_code_of("--version <&- 2>&- >/dev/null"), 0);
}

}  // namespace
}  // namespace flashbench::test
