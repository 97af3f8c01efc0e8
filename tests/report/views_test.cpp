// The tables that stand beside the document's: what is measured and what the document says never
// share a column.
#include "report/views.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "record/json.hpp"
#include "record/rows.hpp"

namespace flashbench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const Column& column(const Grid& grid, const std::string& heading) {
  const auto found = std::ranges::find(grid.columns, heading, &Column::heading);
  if (found == grid.columns.end()) throw std::runtime_error("no column " + heading);
  return *found;
}

Row row(const std::string& impl, double ms, Pass pass = Pass::fwd, std::int64_t seq = 2048) {
  Row result = testing::row(impl, ms, 0.01 * ms, seq);
  result.what.pass = pass;
  result.utilization.peak = 0.25;
  result.utilization.ceiling = 0.5;
  return result;
}

Row not_ok(Row row, Status status, const std::string& reason) {
  row.status = status;
  row.reason = reason;
  row.time.reset();
  row.tflops.reset();
  return row;
}

TEST(Throughput, SetsV2OverV1BesideTheDocuments) {
  const Grid grid = throughput_view(testing::report(
      {row("v1", 3, Pass::fwd, 1024), row("v2", 2, Pass::fwd, 1024), row("v1", 4), row("v2", 2)}));
  EXPECT_THAT(column(grid, "seq").cells, ElementsAre("1024", "2048"));
  EXPECT_THAT(column(grid, "v2 / v1").cells, ElementsAre("1.50", "2.00"));
  EXPECT_THAT(column(grid, "v2 % of peak").cells, ElementsAre("25.0", "25.0"));
  EXPECT_THAT(column(grid, "v2 % of ceiling").cells, ElementsAre("50.0", "50.0"));
  EXPECT_THAT(column(grid, "document (A100) v2 TFLOPS").cells, ElementsAre("196", "218"));
  EXPECT_THAT(column(grid, "document (A100) v1 %").cells, ElementsAre("39.7", "43.6"));
  EXPECT_THAT(column(grid, "document (A100) v2 / v1").cells, ElementsAre("1.58", "1.60"));
}

TEST(Throughput, HasNoIntervalWhereATimeHasNone) {
  std::vector<Row> rows{row("v1", 4), row("v2", 2)};
  EXPECT_THAT(column(throughput_view(testing::report(rows)), "95 % interval").cells,
              ElementsAre(HasSubstr("-2.0")));
  rows[1] = testing::without_interval(rows[1]);
  const Grid grid = throughput_view(testing::report(rows));
  EXPECT_THAT(column(grid, "v2 / v1").cells, ElementsAre("2.00"));
  EXPECT_THAT(column(grid, "95 % interval").cells, ElementsAre("n/a"));
}

TEST(Throughput, SaysThatTheDocumentDisagreesWithItself) {
  const Grid grid = throughput_view(testing::report({row("v2", 2)}));
  EXPECT_THAT(grid.captions.back(), HasSubstr("40 to 45 %"));
  EXPECT_THAT(grid.captions.back(), HasSubstr("25 to 40 %"));
}

TEST(Throughput, ShowsTheDocumentsOnlyForForwardsOfItsLengths) {
  const Grid grid = throughput_view(
      testing::report({row("v2", 2, Pass::bwd), row("v2", 2, Pass::fwd, 3072), row("v2", 2)}));
  EXPECT_THAT(column(grid, "document (A100) v2 %").cells, ElementsAre("n/a", "n/a", "70"));
}

TEST(Throughput, HasNoFiguresOfARowThatFailed) {
  Row failed = row("v2", 2);
  failed.status = Status::failed;
  failed.reason = "o is wrong";
  const Grid grid = throughput_view(testing::report({row("v1", 4), failed}));
  for (const char* heading : {"v2 TFLOPS", "v2 % of peak", "v2 % of ceiling", "v2 / v1"})
    EXPECT_THAT(column(grid, heading).cells, ElementsAre("n/a")) << heading;
  EXPECT_THAT(grid.statuses, ElementsAre(Status::failed));
}

TEST(Relative, IsTimesAsFastAsPyTorchsStandard) {
  const Grid grid =
      relative_view(testing::report({row("pytorch-math", 8), row("v2", 2), row("naive", 4),
                                     row("pytorch-math", 9, Pass::bwd), row("v2", 3, Pass::bwd)}));
  EXPECT_THAT(column(grid, "implementation").cells, ElementsAre("pytorch-math", "v2", "naive"));
  EXPECT_THAT(column(grid, "forward x").cells, ElementsAre("1.00", "4.00", "2.00"));
  EXPECT_THAT(column(grid, "backward x").cells, ElementsAre("1.00", "3.00", "n/a"));
  EXPECT_THAT(column(grid, "document (A100) forward x").cells, ElementsAre("1.0", "4.3", "n/a"));
  EXPECT_THAT(column(grid, "document (A100) backward x").cells, ElementsAre("1.0", "3.9", "n/a"));
}

TEST(Relative, HasNoIntervalWhereATimeHasNone) {
  const Grid grid =
      relative_view(testing::report({testing::without_interval(row("v1", 4)), row("v2", 2)}));
  EXPECT_THAT(column(grid, "± %").cells, ElementsAre("n/a", "1.0"));
}

TEST(Relative, IsNothingWithoutPyTorchAndSaysToWhat) {
  const Grid grid = relative_view(testing::report(
      {not_ok(row("pytorch-math", 8), Status::unsupported, "no torch"), row("v2", 2)}));
  EXPECT_THAT(column(grid, "forward x").cells, ElementsAre("n/a", "n/a"));
  EXPECT_THAT(column(grid, "forward ms").cells, ElementsAre("n/a", "2.000"));
  EXPECT_THAT(column(grid, "status").cells, ElementsAre("unsupported", "ok"));
  EXPECT_THAT(grid.captions, ::testing::Contains(HasSubstr("times as fast as pytorch-math")));
}

TEST(Relative, HasTheDocumentsOnlyAtItsShape) {
  const Grid grid = relative_view(testing::report({row("v2", 2, Pass::fwd, 4096)}));
  EXPECT_THAT(column(grid, "document (A100) forward x").cells, ElementsAre("n/a"));
}

Row remembering(Row row, std::int64_t workspace, std::int64_t saved) {
  row.memory.workspace_bytes = workspace;
  row.memory.saved_bytes = saved;
  return row;
}

TEST(Memory, IsShownAsModelledDeclaredAndSeen) {
  Row naive = remembering(row("naive", 1, Pass::fwd_bwd, 4096), 3 << 20, 1 << 20);
  naive.memory.device_bytes = 6 << 20;
  Row v2 = remembering(row("v2", 1, Pass::fwd_bwd, 4096), 2 << 20, 0);
  const Grid grid = memory_view(testing::report({naive, v2}));
  // 4 batches of 16 heads: P and dP of 4096^2 at 2 bytes; L, D and 128 of dQ at 4 bytes a row.
  EXPECT_THAT(column(grid, "modelled MiB").cells, ElementsAre("4096", "130"));
  EXPECT_THAT(column(grid, "declared MiB").cells, ElementsAre("4.00", "2.00"));
  EXPECT_THAT(column(grid, "device MiB").cells, ElementsAre("6.00", "n/a"));
  EXPECT_THAT(column(grid, "document MiB").cells, ElementsAre("128.00", "4.00"));
}

TEST(Memory, OfWhatDoesNotFitIsWhatItAskedFor) {
  Row oom = remembering(row("naive", 1, Pass::fwd_bwd, 65536), std::int64_t{32} << 30, 0);
  oom = not_ok(oom, Status::oom, "it does not fit");
  oom.memory.needed_bytes = std::int64_t{32} << 30;
  const Grid grid = memory_view(testing::report({oom}));
  EXPECT_THAT(column(grid, "asked for MiB").cells, ElementsAre("32768"));
  EXPECT_THAT(column(grid, "status").cells, ElementsAre("oom"));
  EXPECT_THAT(grid.notes, ::testing::Contains(HasSubstr("it does not fit")));
}

TEST(Memory, OfAForwardIsNoneOfTheDocuments) {
  const Grid grid = memory_view(testing::report({row("v2", 1, Pass::fwd, 4096)}));
  EXPECT_THAT(column(grid, "document MiB").cells, ElementsAre("n/a"));
}

TEST(Views, AreKeptInTheReportAndShownAgain) {
  Report report = testing::report({row("v1", 4), row("v2", 2)});
  report.view = "throughput";
  const Report again = parse_report(report_text(report), "r.json");
  EXPECT_EQ(again.view, "throughput");
  EXPECT_THAT(render_table(again, {}), HasSubstr("v2 / v1"));
  EXPECT_THAT(render_markdown(again, {}), HasSubstr("v2 / v1"));
  EXPECT_EQ(render_table(again, {}), render_table(report, {}));
}

TEST(Views, GiveWayToThatOfTheOptions) {
  Report report = testing::report({row("v1", 4), row("v2", 2)});
  report.view = "throughput";
  EXPECT_THAT(render_table(report, {false, false, "", "rows"}), HasSubstr("time ms"));
  EXPECT_THAT(render_table(report, {false, false, "", "relative"}), HasSubstr("forward x"));
  EXPECT_THAT(render_table(report, {false, false, "seq", ""}), HasSubstr("TFLOPS by seq"));
}

TEST(Views, OfAnotherVersionAreShownAsRows) {
  Report report = testing::report({row("v2", 2)});
  report.view = "hologram";
  EXPECT_THAT(render_table(report, {}), HasSubstr("time ms"));
}

TEST(Views, LeaveOutRowsOfAnotherBuild) {
  Row other = row("v2", 1);
  other.what.source = "against:old";
  const Report report = testing::report({row("v2", 2), other});
  for (const View& view : views())
    EXPECT_THAT(view.grid(report).statuses, ElementsAre(Status::ok)) << view.name;
}

TEST(Views, OfNoRowsAreHeadings) {
  for (const View& view : views()) {
    const Grid grid = view.grid(Report{});
    EXPECT_THAT(grid.columns, Not(IsEmpty())) << view.name;
    for (const Column& each : grid.columns) EXPECT_THAT(each.cells, IsEmpty()) << each.heading;
  }
}

}  // namespace
}  // namespace flashbench
