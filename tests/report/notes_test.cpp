// What stands below a table: why rows have no figures and what their flags mean, in short lines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "record/rows.hpp"
#include "report/report.hpp"
#include "report/text.hpp"
#include "support/text.hpp"

namespace flashbench {
namespace {

using test::lines_of;
using ::testing::HasSubstr;
using ::testing::Not;

Row flagged(const std::string& flag, std::int64_t seq, std::int64_t samples) {
  Row row = testing::row("v2", 1, 0.1, seq);
  row.flags = {flag};
  row.time->n = samples;
  if (samples < 6) row.time->low = row.time->high = std::nullopt;
  return row;
}

Report with_rules(std::vector<Row> rows) {
  Report report = testing::report(std::move(rows));
  report.measurement.time_budget_s = 1;
  report.measurement.min_samples = 10;
  report.measurement.precision = 0.005;
  return report;
}

TEST(Imprecise, says_that_the_budget_ended_a_row_before_its_samples_were_taken) {
  EXPECT_THAT(
      render_table(with_rules({flagged("imprecise", 1024, 4)}), {}),
      HasSubstr("imprecise: --time-budget 1 ended it before the 10 samples of --samples were"));
}

TEST(Imprecise, says_that_the_budget_ended_a_row_before_it_was_precise) {
  EXPECT_THAT(render_table(with_rules({flagged("imprecise", 1024, 40)}), {}),
              HasSubstr("imprecise: --time-budget 1 ended it before its interval was as narrow as "
                        "--precision 0.5%\n"));
}

TEST(Imprecise, names_the_rows_of_each_rule_where_there_are_several) {
  const std::string text =
      render_table(with_rules({flagged("imprecise", 1024, 40), flagged("imprecise", 2048, 4)}), {});
  EXPECT_THAT(text, HasSubstr("--precision 0.5%: v2 seq=1024\n"));
  EXPECT_THAT(text, HasSubstr("of --samples were taken: v2 seq=2048\n"));
}

TEST(Imprecise, is_told_by_the_rules_of_the_report_that_a_merged_row_comes_from) {
  Report merged = with_rules({flagged("imprecise", 1024, 40), flagged("imprecise", 2048, 40)});
  merged.origins = {with_rules({}), with_rules({})};
  merged.origins[1].measurement.time_budget_s = 5;
  merged.measurement.time_budget_s.reset();
  merged.rows[0].origin = 0;
  merged.rows[1].origin = 1;
  const std::string text = render_table(merged, {});
  EXPECT_THAT(text, HasSubstr("imprecise: --time-budget 1 ended it before its interval was as "
                              "narrow as --precision 0.5%: v2 seq=1024\n"));
  EXPECT_THAT(text, HasSubstr("imprecise: --time-budget 5 ended it before its interval was as "
                              "narrow as --precision 0.5%: v2 seq=2048\n"));
}

TEST(Imprecise, says_that_there_were_too_few_samples_for_an_interval) {
  Report report = with_rules({flagged("imprecise", 1024, 5)});
  report.measurement.min_samples = 3;
  EXPECT_THAT(render_table(report, {}),
              HasSubstr("ended it before there were samples enough for an interval"));
}

TEST(DriftNote, names_the_three_rows_that_drift_most) {
  std::vector<Row> rows;
  for (int i = 1; i <= 40; ++i) {
    rows.push_back(flagged("drift", 1024 * i, 100));
    rows.back().drift = 0.05 + 0.001 * i;
  }
  EXPECT_THAT(
      render_table(testing::report(rows), {}),
      HasSubstr("drift: it ended more than 5 % slower or faster than it began: v2 seq=40960 +9.0 "
                "%, v2 seq=39936 +8.9 %, v2 seq=38912 +8.8 % and 37 more\n"));
}

TEST(Notes, say_in_one_sentence_why_a_share_of_the_ceiling_exceeds_the_whole) {
  Row above = testing::row("v2", 1), below = testing::row("v1", 1, 0.1);
  above.utilization.ceiling = 1.07;
  below.utilization.ceiling = 0.99;
  EXPECT_THAT(render_table(testing::report({above, below}), {}),
              HasSubstr("above 100 % of the ceiling: the machine was busier when the ceiling was "
                        "measured, and the share says only that it was reached: v2 107 %\n"));
  EXPECT_THAT(render_table(testing::report({below}), {}), Not(HasSubstr("above 100 %")));
}

TEST(Notes, are_never_wider_than_two_hundred_columns) {
  Row failed = testing::row("v2", 1);
  failed.status = Status::failed;
  for (int i = 0; i < 60; ++i) failed.reason += "a long sentence ";
  Row unbroken = testing::row(std::string(150, 'x'), 1);
  unbroken.status = Status::crashed;
  unbroken.reason = std::string(450, 'y');
  const std::string text = render_table(testing::report({failed, unbroken}), {});
  const auto lines = lines_of(text);
  std::size_t notes = 0;
  for (std::size_t i = lines.size(); i > 0 && !lines[i - 1].empty(); --i, ++notes)
    EXPECT_LE(display_width(lines[i - 1]), text_width);
  EXPECT_GE(notes, 8u) << "nothing is cut off";
  EXPECT_THAT(text, Not(HasSubstr("sentencea")));
}

TEST(Wrapped, breaks_at_spaces_and_within_longer_words) {
  EXPECT_EQ(wrapped("short", 10), "short");
  EXPECT_EQ(wrapped("one two three", 10), "one two\n    three");
  EXPECT_EQ(wrapped("0123456789abcdef", 10), "0123456789\n    abcdef");
  EXPECT_EQ(wrapped("", 10), "");
}

TEST(Table, of_few_samples_shows_a_median_without_an_interval) {
  Row row = testing::row("v2", 1.5);
  row.time = summarize({{1, 0}, {1.5, 1}, {2, 0}});
  const Row other = testing::row("v1", 1.5, 0.03);
  const auto lines = lines_of(render_table(testing::report({row, other}), {}));
  EXPECT_THAT(lines[5], HasSubstr("1.500  n/a"));
  EXPECT_THAT(lines[6], HasSubstr("1.500  2.0"));
}

}  // namespace
}  // namespace flashbench
