// The course of a run: the order of turns, ceilings, budgets, memory, and which rows there are.
#include "schedule/schedule.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedule/fake_run.hpp"

namespace flashbench::test {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(Schedule, GivesEachCaseARowInPlanOrder) {
  Plan plan = plan_of({"ok:1", "ok:2"});
  plan.cases.push_back(fake_case("ok:1", 128));
  plan.cases.push_back(fake_case("ok:2", 128));
  std::swap(plan.cases[1], plan.cases[2]);
  const ScheduleResult result = run(plan);
  ASSERT_EQ(result.rows.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    const Row& row = result.rows[i];
    EXPECT_EQ(key(row.what), key(plan.cases[i]));
    EXPECT_EQ(row.status, Status::ok) << row.reason;
    ASSERT_TRUE(row.time);
    EXPECT_GE(row.time->n, 10);
    EXPECT_NEAR(row.time->median, 1, 1e-3);
    EXPECT_TRUE(row.tflops);
    EXPECT_EQ(row.shared_rounds_with.size(), 1u);
  }
  EXPECT_FALSE(result.interrupted);
  EXPECT_THAT(children(), IsEmpty());
}

TEST(Schedule, RotatesTheOrderOfTurnsEachRound) {
  const Log log;
  run(plan_of({"ok:1", "ok:2", "ok:3"}));
  auto lines = log.lines("run");
  ASSERT_EQ(lines.size(), 8u * 3);
  lines.resize(9);
  EXPECT_THAT(lines, ElementsAre("run ok:1", "run ok:2", "run ok:3", "run ok:2", "run ok:3",
                                 "run ok:1", "run ok:3", "run ok:1", "run ok:2"));
}

TEST(Schedule, MeasuresTheCeilingsOfThePipesInUseInEveryThirdRound) {
  const Log log;
  const ScheduleResult result = run(plan_of({"ok"}));
  EXPECT_EQ(log.lines("ceiling copy").size(), 3u);
  EXPECT_EQ(log.lines("ceiling sgemm").size(), 3u);
  ASSERT_EQ(result.ceilings.size(), 2u);
  EXPECT_EQ(result.ceilings[0].name, "copy");
  EXPECT_DOUBLE_EQ(result.ceilings[0].rate, 3e9) << "the best of 1e9, 3e9 and 2e9";
  EXPECT_EQ(result.ceilings[0].n, 9);
}

TEST(Schedule, MeasuresCeilingsBesideARowThatRunsAlone) {
  const Log log;
  Told told;
  const ScheduleResult result =
      run_plan(plan_of({"ok", "crashshared"}), fake_roster(), quick(), told.events());
  EXPECT_EQ(told.warnings.size(), 1u);  // the group was dissolved
  const auto lines = log.lines();
  const auto last_run = std::ranges::find(lines.rbegin(), lines.rend(), "run ok");
  ASSERT_NE(last_run, lines.rend());
  EXPECT_THAT(std::vector<std::string>(lines.rbegin(), last_run), Contains("ceiling sgemm"));
  for (const Row& row : result.rows) EXPECT_TRUE(row.utilization.ceiling) << row.what.impl;
}

TEST(Schedule, FlagsARowWhoseBudgetEndsFirst) {
  const auto rows = by_impl(run(plan_of({"noisy", "ok"})));
  EXPECT_THAT(rows.at("noisy").flags, Contains("imprecise"));
  EXPECT_THAT(rows.at("ok").flags, Not(Contains("imprecise")));
  EXPECT_GT(rows.at("noisy").time->n, rows.at("ok").time->n);
}

TEST(Schedule, TakesAnExactCount) {
  Options options = quick();
  options.iters = 37;
  const auto rows = by_impl(run(plan_of({"noisy", "ok"}), options));
  EXPECT_EQ(rows.at("noisy").time->n, 37);
  EXPECT_EQ(rows.at("ok").time->n, 37);
}

TEST(Schedule, WarmsUpAsOftenAsAskedAndTimesNoneOfIt) {
  Options options = quick();
  options.iters = 1;
  {
    const Log log;
    run(plan_of({"ok"}), options);
    EXPECT_EQ(log.lines("run ok").size(), 1u);
  }
  options.warmup = 2500;  // a thousand a request at most
  const Log log;
  const ScheduleResult result = run(plan_of({"ok"}), options);
  EXPECT_EQ(log.lines("run ok").size(), 4u);
  EXPECT_EQ(result.rows[0].time->n, 1);
  EXPECT_EQ(result.measurement.warmup, 2500);
}

TEST(Schedule, SaysWhatGoesOnAndHowLongItWillTake) {
  struct Said {
    std::string what;
    std::size_t done, of;
    double left;
  };
  std::vector<Said> said;
  ScheduleEvents events;
  events.progress = [&](const std::string& what, std::size_t done, std::size_t of, double left) {
    said.push_back({what, done, of, left});
  };
  Options options = quick();
  options.time_budget_s = 0.5;
  run_plan(plan_of({"noisy:1", "noisy:2"}), fake_roster(), options, events);
  ASSERT_GE(said.size(), 3u);
  EXPECT_THAT(said.back().what, HasSubstr("noisy"));
  for (const Said& each : said) {
    EXPECT_EQ(each.of, 2u);
    EXPECT_LE(each.done, 2u);
    EXPECT_GE(each.left, 0);
    EXPECT_LE(each.left, 2 * 2 * options.time_budget_s);
  }
  EXPECT_LT(said.back().left, said.front().left);
}

TEST(Schedule, SaysWhyARowIsUnsupported) {
  const auto rows = by_impl(run(plan_of({"refuse", "ok"})));
  EXPECT_EQ(rows.at("refuse").status, Status::unsupported);
  EXPECT_THAT(rows.at("refuse").reason, HasSubstr("128"));
  EXPECT_EQ(rows.at("ok").status, Status::ok);
}

TEST(Schedule, GoesOnAfterOneConfigurationIsOutOfMemory) {  // C06
  Plan plan;
  for (const std::int64_t seq : {1024, 524288, 2048})
    plan.cases.push_back(fake_case("bigoom", seq));
  const ScheduleResult result = run(plan);
  EXPECT_EQ(result.rows[0].status, Status::ok);
  EXPECT_EQ(result.rows[1].status, Status::oom);
  EXPECT_EQ(result.rows[1].memory.needed_bytes, std::int64_t{8} << 40);
  EXPECT_FALSE(result.rows[1].time);
  EXPECT_EQ(result.rows[2].status, Status::ok);
}

TEST(Schedule, RetriesOutOfMemoryAloneAfterADrop) {
  const Log log;
  const auto rows = by_impl(run(plan_of({"ok", "oomshared", "oom"})));
  EXPECT_EQ(rows.at("ok").status, Status::ok);
  EXPECT_EQ(rows.at("oomshared").status, Status::ok) << rows.at("oomshared").reason;
  EXPECT_EQ(rows.at("oom").status, Status::oom);
  EXPECT_EQ(log.lines("output oom 0").size(), 2u);
  EXPECT_GE(log.lines("drop").size(), 3u);
}

TEST(Schedule, RunsAWorkerAloneWhoseInputsFindNoRoomBesideAnothers) {
  const Folder folder;
  setenv("FAKE_MEMORY", (folder / "memory").c_str(), 1);
  Roster roster = fake_roster();
  roster.workers.push_back(roster.workers.front());
  roster.workers.back().source = "plugin:x";
  Plan plan = plan_of({"ok", "ok"});
  plan.cases[1].source = "plugin:x";
  const ScheduleResult result = run(plan, quick(), roster);
  unsetenv("FAKE_MEMORY");
  for (const Row& row : result.rows) EXPECT_EQ(row.status, Status::ok) << row.reason;
}

TEST(Schedule, RowsOfAWorkerThatCannotStartAreUnsupportedWithTheReason) {
  Roster roster = fake_roster();
  roster.workers.emplace_back();
  roster.workers.back().source = "plugin:x";
  roster.workers.back().absent = "python3 is not in PATH";
  Plan plan = plan_of({"ok", "peer"});
  plan.cases[1].source = "plugin:x";
  const auto rows = by_impl(run(plan, quick(), roster));
  EXPECT_EQ(rows.at("ok").status, Status::ok);
  EXPECT_EQ(rows.at("peer").status, Status::unsupported);
  EXPECT_EQ(rows.at("peer").reason, "python3 is not in PATH");
}

TEST(Schedule, DumpsTheFirstSetInAFolderNamedAfterTheKey) {
  const Folder folder;
  Options options = quick();
  options.dump_dir = folder / "dump";
  const Plan plan = plan_of({"ok"});
  run(plan, options);
  EXPECT_TRUE(std::filesystem::exists(folder / ("dump/" + folder_name(plan.cases[0]) + "/o.npy")));
}

TEST(Schedule, LeavesNoScratchBehind) {
  const Folder folder;
  setenv("TMPDIR", folder.path().c_str(), 1);
  run(plan_of({"ok", "crash:1"}));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  unsetenv("TMPDIR");
}

TEST(Schedule, KeepsRowsThatAreKnown) {
  const Plan plan = plan_of({"ok", "ok:2"});
  Row known;
  known.what = plan.cases[0];
  known.status = Status::ok;
  Row crashed;
  crashed.what = plan.cases[1];
  crashed.status = Status::crashed;
  const Log log;
  const ScheduleResult result = run_plan(plan, fake_roster(), quick(), {}, {known, crashed});
  EXPECT_THAT(log.lines("run"), Each("run ok:2"));
  EXPECT_EQ(result.rows[0].status, Status::ok);
  EXPECT_FALSE(result.rows[0].time);
  EXPECT_EQ(result.rows[1].status, Status::ok);
}

}  // namespace
}  // namespace flashbench::test
