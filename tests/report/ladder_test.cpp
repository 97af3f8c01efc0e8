#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimate/ladder.hpp"
#include "record/json.hpp"
#include "report/golden.hpp"
#include "report/report.hpp"

namespace flashbench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Made up: a whole walk, and one with a failed rung and one that is missing.
Report saved() {
  const std::string path = testing::corpus("ladder.json");
  Report report = parse_report(testing::content(path), path);
  add_ladder(report.rows);
  return report;
}

TEST(Golden, ladder_table) {
  testing::expect_golden("ladder.table.txt", render_table(saved(), {}));
}
TEST(Golden, ladder_markdown) {
  testing::expect_golden("ladder.md", render_markdown(saved(), {}));
}

Row& row_of(Report& report, const std::string& impl) {
  return *std::ranges::find(report.rows, impl, [](const Row& row) { return row.what.impl; });
}

TEST(LadderWords, FollowTheFigures) {
  Report report = saved();
  EXPECT_THAT(
      render_table(report, {}),
      HasSubstr("warps-along-q (2.000 x, 44 % of the way) and q-outer (2.000 x, 44 % of the "
                "way) pay most on NVIDIA Example; which of them more cannot be told.\n"));
  row_of(report, "ladder/q-outer").time = row_of(report, "ladder/v1").time;
  add_ladder(report.rows);
  EXPECT_THAT(
      render_table(report, {}),
      AllOf(HasSubstr("grid-over-q (2.500 x, 58 % of the way) pays most on NVIDIA Example."),
            HasSubstr("by delayed-normalisation (1.000 x) and q-outer (1.000 x).")));
}

TEST(LadderTable, LeavesOtherRowsInATableOfTheirOwn) {
  Report report = saved();
  EXPECT_THAT(render_table(report, {}), HasSubstr("extra MiB"));
  std::erase_if(report.rows, [](const Row& row) { return !row.ladder; });
  EXPECT_THAT(render_table(report, {}),
              AllOf(Not(HasSubstr("speed-up x")), ::testing::StartsWith("NVIDIA Example, driver")));
}

TEST(LadderTable, SaysOnceWhenTheRunIsNotComplete) {
  Report report = saved();
  report.complete = false;
  for (const bool with_others : {true, false}) {
    if (!with_others) std::erase_if(report.rows, [](const Row& row) { return !row.ladder; });
    const std::string text = render_table(report, {});
    const std::size_t first = text.find("incomplete: ");
    EXPECT_NE(first, std::string::npos);
    EXPECT_EQ(text.find("incomplete: ", first + 1), std::string::npos);
  }
}

TEST(LadderTable, GivesWayToAPivot) {
  EXPECT_THAT(render_table(saved(), {false, false, "seq"}),
              AllOf(HasSubstr("TFLOPS by seq"), Not(HasSubstr("% of way"))));
}

}  // namespace
}  // namespace flashbench
