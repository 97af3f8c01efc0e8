// --counters: a pass of its own after all timing, whose failure is no row's. The fake refuses to
// count in a process that has timed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "record/hardware_counters.hpp"
#include "schedule/fake_run.hpp"

namespace flashbench::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;
using testing::SizeIs;
using testing::StartsWith;

Options counting() {
  Options options = quick();
  options.counters = true;
  return options;
}

Plan two_problems() {
  Plan plan = plan_of({"ok", "noisy"});
  plan.cases.push_back(fake_case("ok", 128));
  return plan;
}

TEST(Counters, AreReadOnceARowWhenNothingIsLeftToTime) {
  const Log log;
  const ScheduleResult result = run(two_problems(), counting());
  const auto asked = log.lines();
  const auto first = std::ranges::find(asked, "count ");  // whether there are any
  EXPECT_THAT(std::vector(asked.begin(), first), Contains("run ok"));
  EXPECT_THAT(std::vector(first, asked.end()),
              ElementsAre("count ", "prepare", "count ok", "count noisy", "drop", "prepare",
                          "count ok", "drop"));
  for (const Row& row : result.rows) {
    EXPECT_EQ(row.status, Status::ok);
    EXPECT_TRUE(row.time);
    EXPECT_THAT(row.measured, SizeIs(counters::all().size()));
    EXPECT_THAT(row.measured, Contains(Pair(counters::dram_read, 1e6)));
    EXPECT_THAT(row.measured, Contains(Pair(counters::all().back(), std::nullopt)))
        << "a metric that the device does not know leaves the others";
    EXPECT_THAT(row.uncounted, IsEmpty());
    EXPECT_THAT(row.command, HasSubstr(" --counters"));
  }
}

TEST(Counters, AreNotReadUnlessAskedFor) {
  const Log log;
  const ScheduleResult result = run(plan_of({"ok"}));
  EXPECT_THAT(log.lines("count"), IsEmpty());
  EXPECT_THAT(result.rows[0].measured, IsEmpty());
  EXPECT_THAT(result.rows[0].uncounted, IsEmpty());
}

TEST(Counters, ThatTheDriverForbidsAreTheRowsReasonAndNotItsFailure) {
  setenv("FAKE_FORBIDDEN", "1", 1);
  const Log log;
  const ScheduleResult result = run(two_problems(), counting());
  unsetenv("FAKE_FORBIDDEN");
  EXPECT_THAT(log.lines("count"), ElementsAre("count ")) << "asked once";
  for (const Row& row : result.rows) {
    EXPECT_EQ(row.status, Status::ok);
    EXPECT_TRUE(row.time);
    EXPECT_THAT(row.uncounted, StartsWith("the driver forbids them: "));
    EXPECT_THAT(row.measured, IsEmpty());
  }
}

TEST(Counters, ThatFailOfOneRowLeaveTheOthersTheirs) {
  const auto rows =
      by_impl(run(plan_of({"fallscounting", "ok", "miscounts", "noisy"}), counting()));
  for (const auto& [impl, row] : rows) {
    EXPECT_EQ(row.status, Status::ok) << impl;
    EXPECT_TRUE(row.time) << impl;
  }
  EXPECT_THAT(rows.at("ok").measured, Not(IsEmpty()));
  EXPECT_THAT(rows.at("noisy").measured, Not(IsEmpty()));
  EXPECT_EQ(rows.at("miscounts").uncounted, "CUPTI failed: a pass was lost");
  EXPECT_THAT(rows.at("fallscounting").uncounted,
              AllOf(HasSubstr("was killed by signal"), HasSubstr("counting fallscounting")));
}

TEST(Counters, OfRowsThatAreNotOkAreNotRead) {
  const Log log;
  run(plan_of({"ok", "refuse", "wrong"}), counting());
  EXPECT_THAT(log.lines("count"), ElementsAre("count ", "count ok"));
}

TEST(Counters, AreToldOfEachRowAfterItHasFinished) {
  std::vector<std::string> told;
  ScheduleEvents events;
  events.row_finished = [&](const Row& row) { told.push_back("finished " + row.what.impl); };
  events.row_counted = [&](const Row& row) {
    told.push_back("counted " + row.what.impl + (row.measured.empty() ? "" : " with figures"));
  };
  run_plan(plan_of({"ok"}), fake_roster(), counting(), events);
  EXPECT_THAT(told, ElementsAre("finished ok", "counted ok with figures"));
}

TEST(Counters, OfAnEarlierRunsRowsAreReadIfItHadNone) {
  const ScheduleResult earlier = run(plan_of({"ok"}));
  const Log log;
  const ScheduleResult result =
      run_plan(plan_of({"ok"}), fake_roster(), counting(), {}, earlier.rows);
  EXPECT_THAT(log.lines(), ElementsAre("count ", "prepare", "count ok", "drop"));
  EXPECT_THAT(result.rows[0].measured, Not(IsEmpty()));
  EXPECT_EQ(result.rows[0].time->median, earlier.rows[0].time->median);
  run_plan(plan_of({"ok"}), fake_roster(), counting(), {}, result.rows);
  EXPECT_THAT(log.lines("count"), SizeIs(2)) << "and not again";
}

}  // namespace
}  // namespace flashbench::test
