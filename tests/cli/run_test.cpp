// `flashbench run` from its words to its exit code, with a worker and a judge that only pretend.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "support/places.hpp"
#include "support/run_program.hpp"
#include "support/temporary_folder.hpp"

namespace flashbench::test {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

// An installation of its own: this flashbench beside pretended workers.
class Run : public testing::Test {
 protected:
  void SetUp() override {
    fs::copy_file(flashbench_program, bin / "flashbench");
    for (const char* name : {"flashbench-worker-cpu", "flashbench-judge"})
      fs::create_symlink(fake_worker, bin / name);
  }
  Program start(const Arguments& words) {
    return Program(bin / "flashbench", words,
                   {{"FAKE_NAMES", "ok,noisy,refuse,oom,launchfail,wrong"}});
  }
  Outcome says(Arguments words) {
    words.insert(words.begin(), {"run", "--device", "cpu", "--seq", "64"});
    return start(words).wait(60);
  }
  nlohmann::json report(const std::string& name = "r.json") {
    return nlohmann::json::parse(read_file(out / name));
  }
  TemporaryFolder bin, out;
};

TEST_F(Run, ExitCodeIsTheWorstOfTheRows) {
  const Arguments quick{"--time-budget", "0.02", "--impl"};
  const auto code = [&](const char* names, const Arguments& more = {}) {
    Arguments words = quick;
    words.emplace_back(names);
    words.insert(words.end(), more.begin(), more.end());
    return says(words).exit_code;
  };
  EXPECT_EQ(code("ok"), 0);
  EXPECT_EQ(code("ok,refuse,oom"), 0);
  EXPECT_EQ(code("ok,refuse", {"--strict"}), 1);
  EXPECT_EQ(code("refuse,oom"), 4);
  EXPECT_EQ(code("ok,launchfail"), 1);
  EXPECT_EQ(code("ok", {"--filter", "nosuch"}), 4);
  EXPECT_EQ(code("ok", {"--check-only"}), 0);
}

TEST_F(Run, AFilterSaysHowManyCasesThereWere) {
  const Outcome run = says({"--impl", "ok,noisy", "--filter", "nosuch"});
  EXPECT_THAT(run.err, HasSubstr("0 of 2 cases matched"));
  EXPECT_EQ(run.out, "");
}

TEST_F(Run, JsonOnStdoutIsAllThatStandsThere) {
  const Outcome run = says({"--impl", "ok,noisy,oom", "--time-budget", "0.02", "--json", "-"});
  const auto parsed = nlohmann::json::parse(run.out);
  EXPECT_EQ(parsed.at("schema"), "flashbench.report/1");
  EXPECT_EQ(parsed.at("complete"), true);
  EXPECT_EQ(parsed.at("rows").size(), 3u);
  EXPECT_EQ(run.out.find('\x1b'), std::string::npos);
  EXPECT_EQ(run.err.find('\x1b'), std::string::npos);
}

TEST_F(Run, FilesAreWrittenWhateverTheExitCode) {
  const Outcome run =
      says({"--impl", "ok,launchfail", "--time-budget", "0.02", "--json", out / "a/b/r.json",
            "--csv", out / "r.csv", "--md", out / "r.md", "--junit", out / "r.xml"});
  EXPECT_EQ(run.exit_code, 1);
  for (const char* name : {"a/b/r.json", "r.csv", "r.md", "r.xml"})
    EXPECT_TRUE(fs::exists(out / name)) << name;
  EXPECT_FALSE(fs::exists(out / "a/b/r.json.journal"));
  EXPECT_THAT(run.out, HasSubstr("launchfail"));
}

TEST_F(Run, AnUnwritablePlaceIsExitTwoBeforeAnyWork) {
  const Outcome run = says({"--impl", "ok", "--json", "/proc/no/such/r.json"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_LT(run.seconds, 1);
  EXPECT_EQ(run.out, "");
}

TEST_F(Run, InterruptedKeepsWhatHadFinishedAndResumesWithTheRest) {
  const Arguments words{"--device",   "cpu",           "--impl", "noisy",  "--seq",
                        "64,128,192", "--time-budget", "1",      "--json", out / "r.json"};
  Program run = start(words);
  for (int i = 0; i < 200 && (!fs::exists(out / "r.json.journal") ||
                              read_file(out / "r.json.journal").empty());
       ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(report().at("complete"), false);
  run.send(SIGINT);
  const Outcome outcome = run.wait(30);
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  const auto saved = report();
  EXPECT_EQ(saved.at("complete"), false);
  ASSERT_EQ(saved.at("rows").size(), 3u);
  EXPECT_EQ(saved.at("rows")[0].at("status"), "ok");
  EXPECT_EQ(saved.at("rows")[2].at("status"), "not_run");

  const Outcome rest = says(
      {"--impl", "noisy", "--seq", "128,192", "--time-budget", "0.02", "--resume", out / "r.json"});
  EXPECT_EQ(rest.exit_code, 0) << rest.err;
  const auto whole = report();
  EXPECT_EQ(whole.at("complete"), true);
  EXPECT_EQ(whole.at("rows")[0].at("time_ms"), saved.at("rows")[0].at("time_ms"));
}

TEST_F(Run, AKilledRunResumesFromItsJournal) {
  Program run = start({"--device", "cpu", "--impl", "noisy", "--seq", "64,128,192", "--time-budget",
                       "1", "--json", out / "r.json"});
  for (int i = 0; i < 200 && (!fs::exists(out / "r.json.journal") ||
                              read_file(out / "r.json.journal").empty());
       ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  run.send(SIGKILL);
  run.wait();
  EXPECT_EQ(report().at("complete"), false);
  const Outcome rest = says({"--impl", "noisy", "--seq", "128", "--seq", "192", "--time-budget",
                             "0.02", "--resume", out / "r.json"});
  EXPECT_EQ(rest.exit_code, 0) << rest.err;
  EXPECT_EQ(report().at("complete"), true);
  EXPECT_GT(report().at("rows")[0].at("time_ms").at("n"), 0);
  EXPECT_FALSE(fs::exists(out / "r.json.journal"));
}

TEST_F(Run, ABaselineIsComparedAfterTheTable) {
  ASSERT_EQ(says({"--impl", "ok", "--time-budget", "0.02", "--json", out / "r.json"}).exit_code, 0);
  const Outcome run = says(
      {"--impl", "ok", "--time-budget", "0.02", "--baseline", out / "r.json", "--threshold", "5%"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("SAME"));
  EXPECT_EQ(says({"--impl", "ok", "--baseline", out / "no.json"}).exit_code, 2);
}

TEST_F(Run, DryRunShowsCasesAndRunsNone) {
  const Outcome plan = says({"--impl", "ok", "--dry-run", "--json", out / "r.json"});
  EXPECT_EQ(plan.exit_code, 0) << plan.err;
  EXPECT_THAT(plan.out, HasSubstr("counted GFLOP"));
  EXPECT_EQ(report().at("rows")[0].at("status"), "not_run");
  EXPECT_GT(report().at("rows")[0].at("flops").at("counted"), 0);
}

TEST_F(Run, ReportRendersASavedOneAgain) {
  ASSERT_EQ(says({"--impl", "ok", "--time-budget", "0.02", "--json", out / "r.json"}).exit_code, 0);
  const Outcome table = start({"report", out / "r.json"}).wait();
  EXPECT_EQ(table.exit_code, 0);
  EXPECT_THAT(table.out, HasSubstr("implementation"));
  const Outcome json = start({"report", out / "r.json", "--json", "-"}).wait();
  EXPECT_EQ(nlohmann::json::parse(json.out), report());
  EXPECT_EQ(start({"report", out / "none.json"}).wait().exit_code, 2);
}

}  // namespace
}  // namespace flashbench::test
