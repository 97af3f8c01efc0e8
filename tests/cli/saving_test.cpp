// Nothing that has finished is lost: narrower sweeps, signals, two runs on one file.
#include <gmock/gmock.h>

#include <csignal>

#include "cli/installed.hpp"

namespace flashbench::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

class Saving : public Installed {
 protected:
  // Three rows of a second and more each, one after the other.
  Program start_three(const std::string& seq = "64,128,192") const {
    return start({"--device", "cpu", "--impl", "noisy", "--seq", seq, "--time-budget", "1",
                  "--json", out / "r.json"});
  }
  Outcome make(Arguments more) const {
    more.insert(more.begin(), {"--impl", "noisy", "--time-budget", "0.02"});
    return says(more);
  }
  Outcome resume(Arguments more) const {
    more.insert(more.end(), {"--resume", file});
    return make(more);
  }
  const std::string file = out / "r.json";
};

TEST_F(Saving, ANarrowerResumedSweepKeepsTheOtherRowsAsTheyAre) {
  ASSERT_EQ(make({"--json", file, "--seq", "64,128,192", "--label", "first"}).exit_code, 0);
  const auto before = report();
  const Outcome narrow = resume({"--seq", "128,256", "--label", "second"});
  EXPECT_EQ(narrow.exit_code, 0) << narrow.err;
  EXPECT_THAT(narrow.err, HasSubstr("2 rows of " + file + " are not in this sweep"));
  EXPECT_EQ(statuses(),
            (std::map<int, std::string>{{64, "ok"}, {128, "ok"}, {192, "ok"}, {256, "ok"}}));
  const auto after = report();
  EXPECT_EQ(after.at("rows")[2], before.at("rows")[0]);
  EXPECT_EQ(after.at("rows")[3], before.at("rows")[2]);
  EXPECT_EQ(after.at("complete"), true);
  EXPECT_THAT(narrow.out, Not(ContainsRegex("noisy .* 192 ")))
      << "the table shows what was asked for";
}

TEST_F(Saving, ANarrowerResumedSweepKeepsRowsThatOnlyTheJournalHas) {
  Program killed = start_three();
  wait_for_first_row();
  killed.send(SIGKILL);
  killed.wait();
  ASSERT_EQ(resume({"--seq", "256"}).exit_code, 0);
  EXPECT_EQ(statuses().at(64), "ok");
  EXPECT_EQ(statuses().at(256), "ok");
  EXPECT_EQ(report().at("complete"), false) << "192 was never run";
  EXPECT_FALSE(fs::exists(file + ".journal"));
}

TEST_F(Saving, AKilledNarrowerSweepHasLostNothingEither) {
  ASSERT_EQ(make({"--json", file, "--seq", "64"}).exit_code, 0);
  Program second = start({"--device", "cpu", "--impl", "noisy", "--seq", "128,192", "--time-budget",
                          "1", "--resume", file});
  wait_for_first_row();
  second.send(SIGKILL);
  second.wait();
  ASSERT_EQ(resume({"--seq", "192"}).exit_code, 0);
  EXPECT_EQ(statuses(), (std::map<int, std::string>{{64, "ok"}, {128, "ok"}, {192, "ok"}}));
}

TEST_F(Saving, AnotherReportHoldsTheSweepAlone) {
  ASSERT_EQ(make({"--json", file, "--seq", "64,128"}).exit_code, 0);
  ASSERT_EQ(resume({"--seq", "128,192", "--json", out / "other.json"}).exit_code, 0);
  EXPECT_EQ(statuses("other.json").size(), 2u);
  EXPECT_EQ(statuses().size(), 2u);
}

TEST_F(Saving, AResumedReportUnderAnotherNameIsTheSameFile) {
  ASSERT_EQ(make({"--json", file, "--seq", "64,128"}).exit_code, 0);
  fs::create_symlink(file, out / "link.json");
  ASSERT_EQ(resume({"--seq", "192", "--json", out / "link.json"}).exit_code, 0);
  EXPECT_TRUE(fs::is_symlink(out / "link.json"));
  EXPECT_EQ(statuses().size(), 3u);
  EXPECT_FALSE(fs::exists(out / "link.json.journal"));
}

TEST_F(Saving, AnOkRowWhoseTimeIsGoneIsMeasuredAgain) {
  ASSERT_EQ(make({"--json", file, "--seq", "64,128"}).exit_code, 0);
  auto damaged = report();
  const auto whole = damaged.at("rows")[1];
  damaged["rows"][0]["time_ms"] = nullptr;
  out.write("r.json", damaged.dump());
  const Outcome resumed = resume({"--seq", "64,128"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_GT(report().at("rows")[0].at("time_ms").at("n"), 0);
  EXPECT_EQ(report().at("rows")[1], whole) << "the other one stands";
}

TEST_F(Saving, ACheckedRowStandsWhereNothingIsTimed) {
  ASSERT_EQ(make({"--json", file, "--seq", "64", "--check-only", "--label", "first"}).exit_code, 0);
  ASSERT_EQ(resume({"--seq", "64", "--check-only", "--label", "second"}).exit_code, 0);
  EXPECT_EQ(report().at("rows")[0].at("label"), "first");
}

TEST_F(Saving, ADryRunDoesNotWriteOverAResumedReport) {
  ASSERT_EQ(make({"--json", file, "--seq", "64"}).exit_code, 0);
  const std::string before = read_file(file);
  const Outcome plan = resume({"--seq", "64,128", "--json", file, "--dry-run"});
  EXPECT_EQ(plan.exit_code, 2);
  EXPECT_THAT(plan.err, HasSubstr("--json and --resume are both " + file));
  EXPECT_EQ(read_file(file), before);
}

TEST_F(Saving, OfTwoRunsOnOneFileTheSecondIsRefused) {
  Program first = start_three();
  wait_for_first_row();
  const std::string before = read_file(file);
  for (const Arguments& words : {Arguments{"--json", file}, Arguments{"--resume", file},
                                 Arguments{"--json", file, "--dry-run"}}) {
    Arguments second{"--impl", "ok", "--seq", "64"};
    second.insert(second.end(), words.begin(), words.end());
    const Outcome refused = says(second);
    EXPECT_EQ(refused.exit_code, 2) << refused.out;
    EXPECT_THAT(refused.err, HasSubstr(file));
    EXPECT_THAT(refused.err, HasSubstr("another run is writing there"));
    EXPECT_EQ(read_file(file), before);
  }
  EXPECT_EQ(first.wait(30).exit_code, 0);
  EXPECT_EQ(statuses(), (std::map<int, std::string>{{64, "ok"}, {128, "ok"}, {192, "ok"}}));
}

TEST_F(Saving, AWrongWordLeavesNoFileBehind) {
  EXPECT_EQ(says({"--impl", "nosuch", "--json", file}).exit_code, 2);
  EXPECT_TRUE(fs::is_empty(out.path()));
}

class Signals : public Saving, public testing::WithParamInterface<int> {};
TEST_P(Signals, SaveWhatHasFinished) {
  Program run = start_three();
  wait_for_first_row();
  run.send(GetParam());
  const Outcome outcome = run.wait(30);
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  EXPECT_EQ(outcome.signal, 0);
  EXPECT_EQ(statuses().at(64), "ok");
  EXPECT_EQ(statuses().at(192), "not_run");
  EXPECT_EQ(report().at("complete"), false);
  EXPECT_THAT(outcome.out, HasSubstr("not_run")) << "and the table shows it";
}
INSTANTIATE_TEST_SUITE_P(Saving, Signals, testing::Values(SIGINT, SIGTERM, SIGHUP, SIGQUIT),
                         [](const auto& info) { return std::string(sigabbrev_np(info.param)); });

}  // namespace
}  // namespace flashbench::test
