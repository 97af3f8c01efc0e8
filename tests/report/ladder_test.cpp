#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimate/ladder.hpp"
#include "record/json.hpp"
#include "record/rows.hpp"
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

TEST(LadderWords, CallNothingAGainWithoutAnInterval) {
  Report report = saved();
  for (const char* impl : {"ladder/q-outer", "without/q-outer"}) {
    Row& row = row_of(report, impl);
    row = testing::without_interval(row);
  }
  add_ladder(report.rows);
  const std::string text = render_table(report, {});
  EXPECT_THAT(text, HasSubstr("Too imprecise to tell: q-outer (2.000 x, no interval)"));
  EXPECT_THAT(text, Not(HasSubstr("q-outer (2.000 x, 44 %")));
  EXPECT_THAT(text,
              HasSubstr("of v2 without causal-skip (0.971 to 1.031 x) and q-outer (0.432 x, no "
                        "interval)."));
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
