// The sentences after the table say what the rows show, and nothing that they do not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "record/rows.hpp"
#include "report/grid.hpp"

namespace flashbench {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::report;
using testing::row;

TEST(Findings, say_where_v2_passes_v1_by_how_much_and_where_it_does_not) {
  EXPECT_THAT(
      findings_of(
          report({row("v1", 2, 0.01, 512), row("v2", 1, 0.01, 512), row("v1", 9, 0.01, 1024),
                  row("v2", 2, 0.01, 1024), row("v1", 1, 0.01, 256), row("v2", 1.5, 0.01, 256),
                  row("v1", 1, 0.1, 128), row("v2", 1.01, 0.1, 128)})),
      Contains(
          "v2 passes v1 in 2 of 4 problems, by 2.00x (seq=512) to 4.50x (seq=1024); v1 is faster "
          "in "
          "1 of 4 problems, by 1.50x (seq=256); the times do not tell v1 and v2 apart in 1 of 4 "
          "problems (seq=128)."));
}

TEST(Findings, name_the_one_problem_and_all_problems_as_such) {
  EXPECT_THAT(findings_of(report({row("v1", 2, 0.01), row("v2", 1, 0.01)})),
              ElementsAre("v2 passes v1 in the one problem, by 2.00x.",
                          "The fastest: v2 in the one problem."));
  EXPECT_THAT(findings_of(report({row("v1", 2, 0.01), row("v2", 1, 0.01), row("v1", 2, 0.01, 512),
                                  row("v2", 1, 0.01, 512)})),
              Contains(HasSubstr("v2 passes v1 in all 2 problems")));
}

TEST(Findings, say_where_naive_wins_and_that_it_does_nowhere) {
  const std::vector<Row> rows{row("naive", 1, 0.01, 64),   row("v2", 2, 0.01, 64),
                              row("naive", 9, 0.01, 1024), row("v2", 1, 0.01, 1024),
                              row("naive", 9, 0.01, 2048), row("v2", 1, 0.01, 2048)};
  EXPECT_THAT(
      findings_of(report(rows)),
      ElementsAre("The fastest: v2 in 2 of 3 problems (seq=1024; seq=2048), naive in 1 of 3 "
                  "problems (seq=64)."));
  EXPECT_THAT(findings_of(report({rows[2], rows[3]})),
              ElementsAre("The fastest: v2 in the one problem, naive nowhere."));
}

TEST(Findings, call_nobody_the_fastest_where_intervals_do_not_tell) {
  EXPECT_THAT(findings_of(report({row("naive", 1, 0.2), row("v2", 1.01, 0.2)})),
              ElementsAre("The fastest: the times do not tell in the one problem."));
}

TEST(Findings, say_naive_nowhere_only_where_it_is_clearly_behind) {
  const Row naive = row("naive", 3, 0.01), v1 = row("v1", 1, 0.2), v2 = row("v2", 1.01, 0.2);
  EXPECT_THAT(findings_of(report({naive, v1, v2})),
              Contains("The fastest: naive nowhere, the times do not tell in the one problem."));
  EXPECT_THAT(
      findings_of(report({naive, v1, v2, row("naive", 1, 0.2, 512), row("v2", 1.01, 0.2, 512)})),
      Contains("The fastest: the times do not tell in all 2 problems."));
}

TEST(Findings, name_a_problem_by_its_shape_and_not_by_who_answered_it) {
  Row mine = row("mine", 1, 0.2, 512);
  mine.what.source = "plugin:mine.so";
  EXPECT_THAT(
      findings_of(report({mine, row("v2", 1, 0.2, 512), row("v1", 2, 0.01), row("v2", 1, 0.01)})),
      Contains(HasSubstr("the times do not tell in 1 of 2 problems (seq=512)")));
}

TEST(Findings, claim_no_lead_from_a_single_sample_or_a_bare_median) {
  std::vector<Row> rows{row("v1", 2, 0.01), row("v2", 1, 0.01)};
  rows[0].time->n = 1;
  const std::vector<std::string> open{"The times do not tell v1 and v2 apart in the one problem.",
                                      "The fastest: the times do not tell in the one problem."};
  EXPECT_EQ(findings_of(report(rows)), open);
  rows[0].time->n = 10;
  EXPECT_THAT(findings_of(report(rows)), Contains(HasSubstr("v2 passes v1")));
  rows[1].time->low = rows[1].time->high = std::nullopt;
  EXPECT_EQ(findings_of(report(rows)), open);
}

TEST(Findings, see_a_lead_over_few_samples_that_all_took_more_than_twice_as_long) {
  std::vector<Row> rows{row("v1", 9, 0.01), row("v2", 1, 0.01)};
  rows[0].time->n = 3;
  rows[0].time->low = rows[0].time->high = std::nullopt;
  rows[0].time->min = 8.9;
  EXPECT_THAT(findings_of(report(rows)), ElementsAre("v2 passes v1 in the one problem, by 9.00x.",
                                                     "The fastest: v2 in the one problem."));
  rows[0].time->min = 1.9;
  EXPECT_THAT(findings_of(report(rows)), Contains(HasSubstr("do not tell")));
}

TEST(Findings, name_at_most_three_places) {
  std::vector<Row> rows;
  for (const int seq : {64, 128, 256, 512, 1024, 2048}) {
    rows.push_back(row("naive", seq < 2048 ? 1 : 9, 0.01, seq));
    rows.push_back(row("v2", 2, 0.01, seq));
  }
  EXPECT_THAT(findings_of(report(rows)),
              Contains(HasSubstr("naive in 5 of 6 problems (seq=64; seq=128; seq=256; 2 more)")));
}

TEST(Findings, say_which_ceiling_binds_whom_and_how_much_of_it_is_reached) {
  std::vector<Row> rows{row("naive", 2, 0.01), row("naive", 2, 0.01, 512), row("v2", 1, 0.01)};
  rows[0].utilization = {0.1, 0.62, "copy", 1.0};
  rows[1].utilization = {0.1, 0.704, "copy", 1.0};
  rows[2].utilization = {0.1, 0.5, "mma", 1.0};
  const auto findings = findings_of(report(rows));
  EXPECT_THAT(findings, Contains("The ceiling of copy binds naive in 2 rows (62 to 70 % of it)."));
  EXPECT_THAT(findings, Contains("The ceiling of mma binds v2 in 1 row (50 % of it)."));
}

TEST(Findings, leave_out_what_failed_and_what_is_not_of_the_same_problem) {
  Row failed = row("v1", 2, 0.01);
  failed.status = Status::failed;
  Row backward = row("v1", 2, 0.01);
  backward.what.pass = Pass::bwd;
  Row other = row("v1", 2, 0.01);
  other.what.source = "against:old";
  for (const Row& v1 : {failed, backward, other})
    EXPECT_THAT(findings_of(report({v1, row("v2", 1, 0.01)})), IsEmpty());
}

TEST(Findings, never_meet_across_devices) {
  Report merged = report({row("v1", 2, 0.01), row("v2", 1, 0.01)});
  merged.origins = {report({}, "A"), report({}, "B")};
  merged.rows[0].origin = 0;
  merged.rows[1].origin = 1;
  EXPECT_THAT(findings_of(merged), IsEmpty());
  merged.rows[1].origin = 0;
  EXPECT_THAT(findings_of(merged), Not(IsEmpty()));
}

}  // namespace
}  // namespace flashbench
