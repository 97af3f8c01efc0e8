// What --resume keeps of an earlier run, and what it runs again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedule/fake_run.hpp"
#include "schedule/journal.hpp"

namespace flashbench::test {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// A folder that --load reads; the fake worker looks at q.npy alone.
class Load : public testing::Test {
 protected:
  Load() {
    options.load_dir = folder.path();
    write("one");
  }
  void write(const std::string& q) { std::ofstream(folder / "q.npy") << q; }
  static Plan plan(const std::vector<std::pair<std::string, Pass>>& rows) {
    Plan result;
    for (const auto& [impl, pass] : rows) {
      result.cases.push_back(fake_case(impl, 64, pass));
      result.cases.back().problem.init = Init::loaded;
    }
    return result;
  }
  std::vector<Row> run(const Plan& plan, const std::vector<Row>& known = {}) {
    return run_plan(plan, fake_roster(), options, {}, known).rows;
  }

  Folder folder;
  Options options = quick();
};

TEST_F(Load, RowsSayWhatTheyLoaded) {
  const std::vector<Row> first = run(plan({{"ok", Pass::fwd}}));
  ASSERT_EQ(first[0].inputs_checksum.size(), 2u) << "a set each";
  EXPECT_EQ(first[0].inputs_checksum[0], first[0].inputs_checksum[1]);
  EXPECT_EQ(run(plan({{"ok", Pass::fwd}}))[0].inputs_checksum, first[0].inputs_checksum);
  write("two");
  EXPECT_NE(run(plan({{"ok", Pass::fwd}}))[0].inputs_checksum, first[0].inputs_checksum);
}

TEST_F(Load, AForwardRowSaysTheSameWhoeverSharesItsInputs) {
  const std::vector<Row> alone = run(plan({{"ok", Pass::fwd}}));
  const std::vector<Row> both = run(plan({{"ok", Pass::fwd}, {"ok", Pass::bwd}}));
  EXPECT_EQ(both[0].inputs_checksum, alone[0].inputs_checksum);
  EXPECT_NE(both[1].inputs_checksum, alone[0].inputs_checksum) << "a backward reads dO too";
}

TEST_F(Load, RowsStandWhileTheFilesHoldTheSame) {
  const Plan two = plan({{"ok:1", Pass::fwd}, {"ok:2", Pass::fwd}});
  std::vector<Row> known = run(two);
  known[0].time->median = 77;
  known.pop_back();
  const Log log;
  const std::vector<Row> rows = run(two, known);
  EXPECT_EQ(rows[0].time->median, 77);
  EXPECT_EQ(rows[1].status, Status::ok);
  EXPECT_THAT(log.lines("run"), Each("run ok:2"));
  EXPECT_THAT(log.lines("judge"), Not(Contains("judge ok:1 0")));
  EXPECT_THAT(rows[1].shared_rounds_with, IsEmpty());
}

TEST_F(Load, NothingIsRunWhereAllRowsStand) {
  const Plan one = plan({{"ok", Pass::fwd}});
  const std::vector<Row> known = run(one);
  const Log log;
  EXPECT_EQ(run(one, known)[0].time->n, known[0].time->n);
  EXPECT_THAT(log.lines("run"), IsEmpty());
  EXPECT_EQ(log.lines("prepare").size(), 1u);
}

TEST_F(Load, RowsStandWhereTheirInputsCannotBeHadAgain) {
  const Plan one = plan({{"large", Pass::fwd}});
  std::vector<Row> known = run(one);
  known[0].time->median = 77;
  setenv("FAKE_ROOM", "1000", 1);
  Told told;
  const ScheduleResult result = run_plan(one, fake_roster(), options, told.events(), known);
  unsetenv("FAKE_ROOM");
  ASSERT_TRUE(result.rows[0].time) << result.rows[0].reason;
  EXPECT_EQ(result.rows[0].time->median, 77);
  EXPECT_THAT(told.warnings, ElementsAre(HasSubstr("stays as --resume found it")));
}

TEST_F(Load, RowsRunAgainWhenTheFilesHoldOthers) {
  const Plan one = plan({{"ok", Pass::fwd}});
  std::vector<Row> known = run(one);
  known[0].time->median = 77;
  write("two");
  const std::vector<Row> rows = run(one, known);
  EXPECT_LT(rows[0].time->median, 2);
  EXPECT_NE(rows[0].inputs_checksum, known[0].inputs_checksum);
}

TEST(Resume, DoesNotTakeARowForItsDeterministicSibling) {
  Plan plan;
  plan.cases.push_back(fake_case("ok"));
  plan.cases.back().problem.deterministic = true;
  Report earlier;
  Plan sibling;
  sibling.cases.push_back(fake_case("ok"));
  earlier.rows = run_plan(sibling, fake_roster(), quick(), {}).rows;
  const std::vector<Row> known = resumable_rows(earlier, Report{});
  ASSERT_EQ(known.size(), 1u);
  const Log log;
  const ScheduleResult result = run_plan(plan, fake_roster(), quick(), {}, known);
  EXPECT_THAT(log.lines("run"), Contains("run ok"));
  EXPECT_TRUE(result.rows[0].what.problem.deterministic);
  EXPECT_TRUE(result.rows[0].time);
}

}  // namespace
}  // namespace flashbench::test
