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

// A walk of which grid-over-kv is all, eight times as fast.
void add_backward(Report& report, std::int64_t seq) {
  double ms = 32;
  for (const char* impl :
       {"ladder/v1", "ladder/d-once", "ladder/atomic-dq", "ladder/grid-over-kv",
        "ladder/causal-skip", "ladder/logsumexp", "v1", "without/grid-over-kv"}) {
    Row row = testing::row(impl, ms, 0, seq);
    row.what.pass = Pass::bwd;
    KernelCost kernel;
    kernel.traffic.read["dq"] = 7e6;
    row.cost = Cost{{kernel}, 0, {}};
    report.rows.push_back(row);
    if (std::string_view(impl) == "ladder/atomic-dq") ms /= 8;
  }
  add_ladder(report.rows);
}

TEST(LadderTable, OfTheBackwardHasItsOwnRungsAndTheBytesOfDq) {
  Report report = testing::report({});
  add_backward(report, 4096);
  const std::string text = render_table(report, {});
  EXPECT_THAT(text, AllOf(HasSubstr("The way from V1 to V2, backward: batch 4"), HasSubstr("dQ MB"),
                          Not(HasSubstr("O MB")), Not(HasSubstr("delayed-normalisation")),
                          Not(HasSubstr("missing"))));
  EXPECT_THAT(text, HasSubstr("ladder/logsumexp is 8.000 x as fast as ladder/v1"));
  EXPECT_THAT(text, HasSubstr("grid-over-kv (8.000 x, 100 % of the way) pays most"));
  EXPECT_THAT(text, HasSubstr("As they stand, v1 runs 8.000 x as fast as ladder/v1.\n"));
}

TEST(LadderTable, NeverMixesThePasses) {
  Report report = saved();
  const std::string forward = render_table(report, {});
  add_backward(report, 1024);
  add_backward(report, 2048);
  const std::string text = render_table(report, {});
  for (const char* once : {"problem beside problem\n", "beside problem, backward\n"})
    EXPECT_EQ(text.find(once), text.rfind(once)) << once;
  EXPECT_THAT(text,
              AllOf(HasSubstr("O MB"), HasSubstr("dQ MB"), HasSubstr("problem beside problem\n"),
                    HasSubstr("beside problem, backward\n")));
  const std::string walk = "ladder/logsumexp is 4.878 x as fast as ladder/v1";
  EXPECT_THAT(forward, HasSubstr(walk));
  EXPECT_THAT(text, HasSubstr(walk));
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
