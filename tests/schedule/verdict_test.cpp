// Which outputs are judged, and when; what becomes of a row by the verdict on it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedule/fake_run.hpp"
#include "schedule/schedule.hpp"

namespace flashbench::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(Schedule, JudgesBothInputSetsBeforeAnythingIsTimed) {
  const Log log;
  run(plan_of({"ok:1", "ok:2"}));
  const auto lines = log.lines();
  const auto first_run = std::ranges::find_if(lines, [](auto& l) { return l.starts_with("run"); });
  const std::vector<std::string> before(lines.begin(), first_run);
  for (const char* judged : {"judge ok:1 0", "judge ok:1 1", "judge ok:2 0", "judge ok:2 1"})
    EXPECT_THAT(before, Contains(judged));
  EXPECT_THAT(std::vector<std::string>(first_run, lines.end()), Not(Contains(HasSubstr("judge"))));
}

TEST(Schedule, ShowsNoTimeForARowThatFails) {
  const auto rows = by_impl(run(
      plan_of({"ok", "wrong", "wronghash:2", "guard", "launchfail", "zero", "shaky", "nohash:2"})));
  EXPECT_EQ(rows.at("ok").status, Status::ok);
  const std::map<std::string, std::string> reasons{
      {"wrong", "off by 0.3"},      {"wronghash:2", "than the one that was judged"},
      {"guard", "behind O"},        {"launchfail", "invalid configuration"},
      {"zero", "a sample of 0 ms"}, {"shaky", "two forward runs"},
      {"nohash:2", "no hash"}};
  for (const auto& [impl, reason] : reasons) {
    EXPECT_EQ(rows.at(impl).status, Status::failed) << impl;
    EXPECT_THAT(rows.at(impl).reason, HasSubstr(reason));
    EXPECT_FALSE(rows.at(impl).time) << impl;
    EXPECT_FALSE(rows.at(impl).tflops) << impl;
  }
}

TEST(Schedule, NeverTimesWhatIsWrong) {
  const Log log;
  run(plan_of({"wrong", "ok"}));
  EXPECT_THAT(log.lines("run"), Not(Contains("run wrong")));
}

// The one row of a plan whose outputs are judged before and after its turns.
void expect_to_be_judged_again(const char* impl) {
  const Log log;
  Plan plan;
  plan.cases.push_back(fake_case(impl, 64, Pass::bwd));
  const ScheduleResult result = run(plan);
  EXPECT_EQ(result.rows[0].status, Status::ok) << result.rows[0].reason;
  EXPECT_EQ(result.rows[0].deterministic, false);
  EXPECT_EQ(log.lines().back(), "drop");
  EXPECT_EQ(log.lines("judge").size(), 4u);
}

TEST(Schedule, JudgesAtomicGradientsAgainAfterTheirTurns) {
  expect_to_be_judged_again("atomic");
}

TEST(Schedule, JudgesGradientsAgainThatDifferForTheFirstTimeInATurn) {
  expect_to_be_judged_again("wronghash:2");
}

TEST(Schedule, FailsGradientsThatDifferWhereTheyMustNot) {
  Plan plan;
  plan.cases.push_back(fake_case("wronghash:2", 64, Pass::bwd));
  plan.cases[0].problem.deterministic = true;
  const ScheduleResult result = run(plan);
  EXPECT_EQ(result.rows[0].status, Status::failed);
  EXPECT_THAT(result.rows[0].reason, HasSubstr("than the one that was judged"));
}

TEST(Schedule, ChecksOnlyOrNotAtAllWhenAsked) {
  Options options = quick();
  options.check = Check::only;
  {
    const Log log;
    const auto rows = by_impl(run(plan_of({"ok", "wrong"}), options));
    EXPECT_EQ(rows.at("ok").status, Status::ok);
    EXPECT_FALSE(rows.at("ok").time);
    EXPECT_EQ(rows.at("wrong").status, Status::failed);
    EXPECT_THAT(log.lines("run"), IsEmpty());
  }
  options.check = Check::none;
  const Log log;
  const auto rows = by_impl(run(plan_of({"wrong"}), options));
  EXPECT_EQ(rows.at("wrong").status, Status::ok);
  EXPECT_THAT(rows.at("wrong").numerics, IsEmpty());
  EXPECT_THAT(log.lines("judge"), IsEmpty());
}

TEST(Schedule, HoldsBothInputSetsOfUncheckedTurnsAgainstTheFirst) {
  Options options = quick();
  options.check = Check::none;
  const auto rows = by_impl(run(plan_of({"ok", "wronghash:2"}), options));
  EXPECT_EQ(rows.at("ok").status, Status::ok);
  EXPECT_EQ(rows.at("wronghash:2").status, Status::failed);
  EXPECT_THAT(rows.at("wronghash:2").reason, HasSubstr("than before (input set 1: hash other"));
}

}  // namespace
}  // namespace flashbench::test
