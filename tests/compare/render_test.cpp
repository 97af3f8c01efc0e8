// The table of a comparison: short names that tell the rows apart, and the whole keys on request.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compare/compare.hpp"
#include "record/json.hpp"
#include "record/rows.hpp"
#include "report/golden.hpp"
#include "report/text.hpp"
#include "support/text.hpp"

namespace flashbench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::report;
using testing::row;

Row causal(Row row) {
  row.what.problem.mask = Mask::causal;
  return row;
}

Row out_of_memory(Row row) {
  row.status = Status::oom;
  row.reason = "needs 9 GiB, 4 GiB are free";
  row.time.reset();
  return row;
}

// A row of every verdict, of three implementations, two masks and shapes of every kind.
Comparison varied() {
  Row grouped = row("v2", 2, 0.01, 512);
  grouped.what.problem.kv_heads = 4;
  grouped.what.problem.seq_k = 65536;
  const std::vector<Row> base{row("naive", 3, 0.01),       row("v1", 2, 0.01),
                              causal(row("v1", 1, 0.3)),   row("v2", 1, 0.01),
                              causal(row("v2", 1, 0.01)),  grouped,
                              out_of_memory(row("v3", 1)), row("v3", 1, 0, 1024)};
  const std::vector<Row> now{row("naive", 3.01, 0.01),
                             row("v1", 2.5, 0.01),
                             causal(row("v1", 1.1, 0.3)),
                             row("v2", 0.5, 0.01),
                             out_of_memory(causal(row("v2", 1))),
                             grouped,
                             row("v3", 1),
                             row("v3", 1, 0, 2048)};
  return compare(report(base), report(now), {});
}

TEST(Golden, comparison) {
  testing::expect_golden("comparison.txt", render_comparison(varied(), false));
}

TEST(ComparisonTable, is_never_wider_than_two_hundred_columns) {
  for (const std::string& line : test::lines_of(render_comparison(varied(), false)))
    EXPECT_LE(display_width(line), 200u) << line;
}

TEST(ComparisonTable, has_no_axis_in_which_rows_agree) {
  const std::string text = render_comparison(varied(), false);
  EXPECT_THAT(text, HasSubstr("  mask  "));
  EXPECT_THAT(text, HasSubstr("all rows: pass fwd, dtype fp16, "));
  EXPECT_THAT(text, Not(HasSubstr("bshd/normal/cold")));
}

TEST(ComparisonTable, has_the_whole_keys_only_when_asked) {
  const std::string whole = key(row("v1", 1).what);
  EXPECT_THAT(render_comparison(varied(), false), Not(HasSubstr(whole)));
  EXPECT_THAT(render_comparison(varied(), false, true), HasSubstr(whole));
}

TEST(ComparisonTable, has_the_whole_keys_where_nothing_else_tells_rows_apart) {
  Row one = row("v2", 1), other = row("v2", 1);
  one.recorded_key = "morning";
  other.recorded_key = "evening";
  const std::string text =
      render_comparison(compare(report({one, other}), report({one, other}), {}), false);
  EXPECT_THAT(text, HasSubstr("morning"));
  EXPECT_THAT(text, HasSubstr("evening"));
}

TEST(ComparisonJson, is_strict_and_has_the_whole_keys_and_null_for_what_is_missing) {
  const Json json = Json::parse(comparison_text(varied()));
  EXPECT_EQ(json["schema"], "flashbench.comparison/1");
  EXPECT_EQ(json["exit_code"], 5);
  EXPECT_EQ(json["counts"]["lost"], 1);
  ASSERT_EQ(json["pairs"].size(), 9u);
  EXPECT_EQ(json["pairs"][1]["key"], key(row("v1", 1).what));
  EXPECT_EQ(json["pairs"][1]["verdict"], "SLOWER");
  EXPECT_DOUBLE_EQ(json["pairs"][1]["time_ratio"]["value"].get<double>(), 1.25);
  EXPECT_EQ(json["pairs"][4]["details"], "new: needs 9 GiB, 4 GiB are free");
  EXPECT_TRUE(json["pairs"][4]["time_ratio"].is_null());
}

TEST(ComparisonJson, has_no_interval_of_a_bare_median) {
  Row bare = row("v2", 1);
  bare.time->low = bare.time->high = std::nullopt;
  const Json json = Json::parse(comparison_text(compare(report({bare}), report({bare}), {})));
  EXPECT_EQ(json["pairs"][0]["time_ratio"]["value"], 1);
  EXPECT_TRUE(json["pairs"][0]["time_ratio"]["low"].is_null());
}

}  // namespace
}  // namespace flashbench
