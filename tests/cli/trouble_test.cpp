// Programs that are not there, or not what they should be.
#include <gmock/gmock.h>

#include "cli/installed.hpp"
#include "support/places.hpp"
#include "support/text.hpp"

namespace flashbench::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
namespace fs = std::filesystem;

class Trouble : public Installed {
 protected:
  void replace(const std::string& name, const std::string& script) const {
    fs::remove(bin / name);
    bin.write(name, script);
    fs::permissions(bin / name, fs::perms::owner_all);
  }
  const Arguments quick{"--impl", "ok", "--seq", "64", "--time-budget", "0.02"};
  Outcome says_quickly(const Arguments& more = {}, const Environment& environment = {}) const {
    Arguments words = quick;
    words.insert(words.end(), more.begin(), more.end());
    return says(words, environment);
  }
};

TEST_F(Trouble, AMissingJudgeIsExitThreeInOneLineBeforeAnyWork) {
  fs::remove(bin / "flashbench-judge");
  const Outcome missing = says_quickly({"--json", out / "r.json"});
  EXPECT_EQ(missing.exit_code, 3);
  EXPECT_THAT(missing.err, AllOf(HasSubstr("flashbench-judge is not in " + bin.path().string()),
                                 HasSubstr("--no-check")));
  EXPECT_EQ(lines_of(missing.err).size(), 1u);
  EXPECT_EQ(missing.out, "");
  EXPECT_TRUE(fs::is_empty(out.path()));
  EXPECT_EQ(says_quickly({"--no-check"}).exit_code, 0);
  EXPECT_EQ(says_quickly({"--dry-run"}).exit_code, 0);
}

TEST_F(Trouble, AJudgeThatMayNotBeExecutedIsNamedWithItsPath) {
  fs::remove(bin / "flashbench-judge");
  const std::string judge = bin.write("flashbench-judge", "");
  const Outcome refused = says_quickly();
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_THAT(refused.err, HasSubstr(judge + " may not be executed"));
}

TEST_F(Trouble, AWorkerThatNeverSaysHelloIsExitThreeWithinTheTimeOut) {
  const Outcome silent = says_quickly({"--timeout", "0.4"}, {{"FAKE_SILENT", "1"}});
  EXPECT_EQ(silent.exit_code, 3);
  EXPECT_LT(silent.seconds, 4);
  EXPECT_THAT(silent.err, HasSubstr("flashbench-worker-cpu gave no sign of life for 0.4 s (while "
                                    "starting)"));
}

// What a worker's file may hold by mistake, and what is said of it.
TEST_F(Trouble, AnotherProgramInAWorkersPlaceIsExitThreeWithACause) {
  const std::string hello = R"(read line <&"$2"; echo '{"id": 1, "status": "ok")";
  const std::map<std::string, std::string> programs{
      {"no program at all", "cannot start .*Exec format error"},
      {"#!/bin/sh\nexit 0\n", "exited with status 0"},
      {"#!/bin/sh\necho out of luck >&2; exit 9\n", "exited with status 9.*out of luck"},
      {"#!/bin/sh\n" + hello + "}' >&\"$2\"\n", "gives no answer to hello: it is another program"},
      {"#!/bin/sh\n" + hello + R"(, "op": "hello", "protocol": 1}' >&"$2")" + "\n",
       "has no device and does not say why"}};
  for (const auto& [script, cause] : programs) {
    replace("flashbench-worker-cpu", script);
    const Outcome refused = says_quickly({"--timeout", "5"});
    EXPECT_EQ(refused.exit_code, 3) << script;
    EXPECT_THAT(refused.err,
                MatchesRegex("flashbench: the CPU cannot be used: .*" + cause + ".*\n"));
    EXPECT_EQ(lines_of(refused.err).size(), 1u);
  }
}

TEST_F(Trouble, DescriptionsThatCannotBeAreFailedRowsAndNoNumbers) {
  const Outcome run = says({"--impl", "ok,negative,negativeflops", "--seq", "64", "--time-budget",
                            "0.02", "--json", "-"});
  EXPECT_EQ(run.exit_code, 1) << run.err;
  const auto rows = strict_json(run.out).at("rows");
  EXPECT_EQ(rows[0].at("status"), "ok");
  for (const int i : {1, 2}) {
    EXPECT_EQ(rows[i].at("status"), "failed");
    EXPECT_THAT(rows[i].at("reason").get<std::string>(), HasSubstr("which cannot be"));
    EXPECT_TRUE(rows[i].at("memory").at("workspace_bytes").is_null());
  }
  const Outcome plan = says({"--impl", "negative", "--seq", "64", "--dry-run"});
  EXPECT_THAT(plan.out, AllOf(HasSubstr("n/a"), HasSubstr("failed: it says that its workspace")));
}

TEST_F(Trouble, ADryRunSaysWhatCannotFit) {
  const Environment room{{"FAKE_ROOM", "1000000000"}};
  const Outcome plan = says({"--impl", "large,ok", "--seq", "64", "--dry-run"}, room);
  EXPECT_EQ(plan.exit_code, 0);
  EXPECT_THAT(plan.out, HasSubstr("oom: two sets of inputs and outputs take 4000 bytes"));
  EXPECT_THAT(plan.out, HasSubstr(" 1000000.")) << "and what it would need";
}

// The row of a table that begins with this word.
std::string line_of(const std::string& text, const std::string& word) {
  for (const std::string& line : lines_of(text))
    if (line.starts_with(word + " ")) return line;
  ADD_FAILURE() << "no line of " << word << " in\n" << text;
  return {};
}

TEST_F(Trouble, ADryRunWithoutAGpuSaysByWhichDeviceItPlans) {
  fs::create_symlink(fake_worker, bin / "flashbench-worker-cuda");
  const Arguments words{"--device", "cuda", "--impl", "ok", "--dry-run", "--seq", "64"};
  const Outcome plan = start(words, {{"FAKE_STAND_IN", "NVIDIA H200"}}).wait();
  EXPECT_EQ(plan.exit_code, 0) << plan.err;
  EXPECT_THAT(plan.err, HasSubstr("no usable GPU: driver 11.2 is older than CUDA 12.4 needs; the "
                                  "costs shown are those on an NVIDIA H200 instead"));
  EXPECT_THAT(line_of(plan.out, "ok"), Not(HasSubstr("n/a")));
  const Outcome without = start({"--device", "cuda", "--dry-run", "--seq", "64"}).wait();
  EXPECT_EQ(without.exit_code, 0) << without.err;
  EXPECT_THAT(without.err, HasSubstr("planning without its worker"));
  EXPECT_THAT(line_of(without.out, "v2"), HasSubstr("n/a"));
  EXPECT_EQ(start({"--device", "cuda", "--impl", "ok"}, {{"FAKE_STAND_IN", "x"}}).wait().exit_code,
            3);
}

TEST_F(Trouble, TheColumnsOfADryRunHaveUnitsAndAreExplained) {
  const std::string out = says({"--impl", "ok", "--seq", "64", "--dry-run"}).out;
  for (const char* heading : {"counted GFLOP", "exact GFLOP", "moved MB", "memory MB", "about s"}) {
    const auto first = out.find(heading);
    ASSERT_NE(first, out.npos) << heading;
    EXPECT_NE(out.find("\n" + std::string(heading), first + 1), out.npos) << heading;
  }
  EXPECT_THAT(out, HasSubstr("flashbench --help"));
}

}  // namespace
}  // namespace flashbench::test
