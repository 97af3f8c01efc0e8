// The files that commands read: earlier reports, baselines, configs; and where their words go.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "support/places.hpp"
#include "support/run_program.hpp"
#include "support/temporary_folder.hpp"
#include "support/text.hpp"

namespace flashbench::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

// This flashbench beside pretended workers.
class Files : public testing::Test {
 protected:
  void SetUp() override {
    fs::copy_file(flashbench_program, bin / "flashbench");
    for (const char* name : {"flashbench-worker-cpu", "flashbench-judge"})
      fs::create_symlink(fake_worker, bin / name);
  }
  Outcome says(const Arguments& words) {
    return Program(bin / "flashbench", words, {{"FAKE_NAMES", "ok,noisy"}}).wait(60);
  }
  Outcome plans(Arguments words) {
    words.insert(words.begin(), {"--device", "cpu", "--seq", "64", "--impl", "ok", "--dry-run"});
    return says(words);
  }
  TemporaryFolder bin, out;
};

// The shell's pipe has a reader that is gone before anything is written.
TEST_F(Files, AReaderThatGoesAwayCostsItsOwnOutputAlone) {
  const std::string command = fmt::format(
      "set -o pipefail; {} --device cpu --seq 64 --impl ok --json - --csv {} --md {} 2>{} | true",
      bin / "flashbench", out / "r.csv", out / "r.md", out / "words");
  const Outcome run = Program("/bin/bash", {"-c", command}, {{"FAKE_NAMES", "ok,noisy"}}).wait(60);
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_TRUE(fs::exists(out / "r.csv"));
  EXPECT_TRUE(fs::exists(out / "r.md"));
  EXPECT_THAT(test::read_file(out / "words"), HasSubstr("cannot write standard output"));
}

TEST_F(Files, WordsThatNobodyReadsEndNothing) {
  const std::string command =
      fmt::format("set -o pipefail; {} --seq 64 --impl ok,noisy --json {} 2>&1 >/dev/null | true",
                  bin / "flashbench", out / "r.json");
  const Outcome run = Program("/bin/bash", {"-c", command}, {{"FAKE_NAMES", "ok,noisy"}}).wait(60);
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_TRUE(fs::exists(out / "r.json"));
}

TEST_F(Files, ADryRunReadsTheFilesThatARunWouldRead) {
  const std::string broken = out.write("broken.json", "{");
  const std::string journal = out.write("j.json", R"({"schema":"flashbench.report/1","rows":[]})");
  out.write("j.json.journal", "no JSON\n");
  for (const char* option : {"--resume", "--baseline", "--config"})
    for (const std::string& file : {out / "none.json", broken}) {
      const Outcome plan = plans({option, file});
      EXPECT_EQ(plan.exit_code, 2) << option << " " << file;
      EXPECT_THAT(plan.err, HasSubstr(file));
      EXPECT_EQ(plan.out, "");
    }
  EXPECT_EQ(plans({"--resume", journal}).exit_code, 2);
  EXPECT_EQ(plans({"--resume", out / "none.json", "--filter", "nosuch"}).exit_code, 2);
}

TEST_F(Files, ADryRunSaysWhatIsFinishedAndWhatCannotBeResumed) {
  const Arguments words{"--device", "cpu", "--seq", "64", "--impl", "ok", "--time-budget", "0.02"};
  Arguments run = words;
  run.insert(run.end(), {"--json", out / "r.json"});
  ASSERT_EQ(says(run).exit_code, 0);
  const Outcome plan = plans({"--resume", out / "r.json"});
  EXPECT_EQ(plan.exit_code, 0) << plan.err;
  EXPECT_THAT(plan.out, HasSubstr("0.0  finished before"));
  const Outcome other = plans({"--resume", out / "r.json", "--seed", "7"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("seed was 1 and is 7"));
}

TEST_F(Files, ADryRunShowsTheAxesInWhichCasesDiffer) {
  EXPECT_THAT(plans({}).out, AllOf(Not(HasSubstr("scale")), Not(HasSubstr("layout"))));
  EXPECT_THAT(plans({"--scale", "0.5"}).out, HasSubstr("scale"));
  const std::string all =
      plans({"--scale", "0.5,-0,0", "--layout", "bshd,bhsd", "--cache", "cold,warm"}).out;
  for (const char* heading : {"scale", "layout", "cache"}) EXPECT_THAT(all, HasSubstr(heading));
  EXPECT_THAT(all, HasSubstr("8 cases"));
}

TEST_F(Files, WrongWordsComeBeforeADeviceThatIsNotThere) {
  const auto code = [&](Arguments words) {
    words.insert(words.begin(), {"run", "--device", "cuda"});
    return says(words).exit_code;
  };
  EXPECT_EQ(code({}), 3);
  EXPECT_EQ(code({"--impl", "perhaps-on-a-gpu"}), 3);
  EXPECT_EQ(code({"--heads", "8", "--kv-heads", "3"}), 2);
  EXPECT_EQ(code({"--load", out / "none"}), 2);
  EXPECT_EQ(code({"--resume", out / "none.json"}), 2);
  EXPECT_EQ(code({"--baseline", out / "none.json"}), 2);
}

std::string report(const std::string& time, const std::string& more = "") {
  return R"({"schema":"flashbench.report/1","complete":false,"rows":[{"key":"A","time_ms":{"median":)" +
         time + "}" + more + "}]}";
}

TEST_F(Files, CompareWarnsOnStandardErrorAlone) {
  const std::string base = out.write("a.json", report("1.0")),
                    now = out.write("b.json", report("1.051"));
  const Outcome compared = says({"compare", base, now});
  EXPECT_EQ(compared.exit_code, 5);
  EXPECT_THAT(compared.err, AllOf(HasSubstr("warning: the base report is incomplete"),
                                  HasSubstr("does not say which device")));
  EXPECT_THAT(compared.out, AllOf(HasSubstr("SLOWER"), Not(HasSubstr("incomplete"))));
  EXPECT_EQ(says({"compare", base, out.write("c.json", report("1.049"))}).exit_code, 0);
}

TEST_F(Files, ABaselineIsWarnedOfOnStandardErrorAlone) {
  const std::string base = out.write("a.json", report("1.0"));
  const Outcome run = says({"--device", "cpu", "--seq", "64", "--impl", "ok", "--time-budget",
                            "0.02", "--baseline", base});
  EXPECT_EQ(run.exit_code, 4) << "nothing in common";
  EXPECT_THAT(run.err, HasSubstr("warning: the base report is incomplete"));
  EXPECT_THAT(run.out, Not(HasSubstr("incomplete")));
}

TEST_F(Files, CompareRefusesOtherLoadedInputs) {
  const auto loaded = [](const char* time, const char* checksum) {
    return report(time, R"(,"init":"loaded","inputs_checksum":[")" + std::string(checksum) + "\"]");
  };
  const std::string base = out.write("a.json", loaded("1.0", "1-2-3"));
  const std::string same = out.write("b.json", loaded("1.01", "1-2-3"));
  const std::string other = out.write("c.json", loaded("1.01", "1-2-4"));
  EXPECT_EQ(says({"compare", base, same}).exit_code, 0);
  const Outcome refused = says({"compare", base, other});
  EXPECT_EQ(refused.exit_code, 6);
  EXPECT_THAT(refused.out, HasSubstr("inputs_checksum: 1-2-3 against 1-2-4"));
  const Outcome allowed = says({"compare", base, other, "--allow-different"});
  EXPECT_EQ(allowed.exit_code, 0);
  EXPECT_THAT(allowed.out, HasSubstr("DIFFERENT CONDITIONS"));
}

TEST_F(Files, ALabelThatIsNoTextIsReplacedInAForeignReportAndRefusedAsAFlag) {
  const std::string file = out.write("r.json",
                                     "{\"schema\":\"flashbench.report/1\",\"label\":\"a\xff\","
                                     "\"rows\":[{\"key\":\"A\",\"time_ms\":{\"median\":1}}]}");
  for (const char* option : {"--json", "--csv", "--md", "--junit"}) {
    const Outcome again = says({"report", file, option, "-"});
    EXPECT_EQ(again.exit_code, 0) << again.err;
    EXPECT_THAT(again.out, AllOf(HasSubstr("a\ufffd"), Not(HasSubstr("\xff")))) << option;
  }
  const Outcome run = plans({"--label", "a\xff"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("--label"));
}

TEST_F(Files, AReportIsRenderedWithoutWhatItDoesNotSay) {
  const std::string file = out.write("r.json", report("2"));
  const auto row = strict_json(says({"report", file, "--json", "-"}).out).at("rows")[0];
  EXPECT_TRUE(row.at("problem").at("batch").is_null());
  EXPECT_TRUE(row.at("flops").at("counted").is_null());
  EXPECT_TRUE(row.at("time_ms").at("low").is_null());
  EXPECT_EQ(row.at("time_ms").at("median"), 2);
  EXPECT_THAT(says({"report", file}).out, Not(HasSubstr("fp32")));
}

}  // namespace
}  // namespace flashbench::test
