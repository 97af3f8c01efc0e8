// The traffic of rows by formula, as counted and by hardware counters, side by side; and what
// stands in the table of rows of --counters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "record/hardware_counters.hpp"
#include "record/rows.hpp"
#include "report/views.hpp"

namespace flashbench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

KernelCost kernel(double q_read, double o_written) {
  KernelCost cost;
  cost.kernel = "attention";
  cost.traffic.read = {{"q", q_read}, {"k", 0}};
  cost.traffic.written = {{"o", o_written}};
  return cost;
}

Row counted_by_gpu() {
  Row row = testing::row("v2", 2);
  row.cost = Cost{{kernel(3e6, 1e6), kernel(1e6, 0)}, 0, {}};
  row.measured = {{counters::dram_read, 2e6},        {counters::dram_written, 5e5},
                  {counters::l2_read, 4.1e6},        {counters::l2_written, 1.2e6},
                  {counters::tensor_percent, 61.5},  {counters::shared_wavefronts, 1e6},
                  {counters::bank_conflicts, 2.5e5}, {counters::barrier_percent, std::nullopt}};
  return row;
}

const Column& column(const Grid& grid, const std::string& heading) {
  for (const Column& each : grid.columns)
    if (each.heading == heading) return each;
  throw std::runtime_error("no column " + heading);
}

bool has(const Grid& grid, const std::string& heading) {
  return std::ranges::any_of(grid.columns,
                             [&](const Column& each) { return each.heading == heading; });
}

TEST(Traffic, SetsTheLevelsOfMemoryBesideTheFormulasOfOperands) {
  const Grid grid = traffic_table(testing::report({counted_by_gpu()}));
  EXPECT_THAT(column(grid, "operand").cells,
              ElementsAre("Q", "O", "all, L2 to SM", "all, DRAM to L2"));
  EXPECT_THAT(column(grid, "read: formula").cells, ElementsAre("4.00", "n/a", "4.00", "n/a"));
  EXPECT_THAT(column(grid, "read: hardware").cells, ElementsAre("n/a", "n/a", "4.10", "2.00"));
  EXPECT_THAT(column(grid, "written: formula").cells, ElementsAre("n/a", "1.00", "1.00", "n/a"));
  EXPECT_THAT(column(grid, "written: hardware").cells, ElementsAre("n/a", "n/a", "1.200", "0.500"));
  EXPECT_FALSE(has(grid, "read: counted")) << "of a GPU's implementation nothing is";
}

TEST(Traffic, SetsWhatACpuImplementationCountedBesideItsFormula) {
  Row row = testing::row("v1", 2);
  row.what.backend = Backend::cpu;
  row.cost = Cost{{kernel(3e6, 1e6)}, 0, {}};
  row.counts = Counts{};
  row.counts->traffic.read = {{"q", 2e6}, {"statistics", 1e6}};
  row.counts->traffic.written = {{"o", 1e6}};
  const Grid grid = traffic_view(testing::report({row}));
  EXPECT_THAT(column(grid, "operand").cells, ElementsAre("Q", "O", "statistics", "all"));
  EXPECT_THAT(column(grid, "read: counted").cells, ElementsAre("2.00", "n/a", "1.00", "3.00"));
  EXPECT_FALSE(has(grid, "read: hardware"));
}

TEST(Traffic, OfRowsThatAreNotOkIsNotShown) {
  Row failed = counted_by_gpu();
  failed.status = Status::failed;
  EXPECT_THAT(traffic_table(testing::report({failed})).statuses, IsEmpty());
}

TEST(Traffic, FollowsTheTableOfRowsWhereCountersWereAskedFor) {
  const Report asked = testing::report({counted_by_gpu()});
  const auto tables = make_grids(asked, {});
  ASSERT_EQ(tables.size(), 2u);
  EXPECT_THAT(tables[1].captions, ElementsAre(StartsWith("traffic of one run, MB")));
  EXPECT_EQ(make_grids(asked, {false, false, "seq", ""}).size(), 1u) << "but no pivot";
  EXPECT_EQ(make_grids(asked, {false, false, "", "traffic"}).size(), 1u) << "nor itself";
  EXPECT_EQ(make_grids(testing::report({testing::row("v2", 2)}), {}).size(), 1u);
}

TEST(CounterColumns, StandBesideTheTime) {
  const Grid grid = make_grid(testing::report({counted_by_gpu()}), {});
  EXPECT_THAT(column(grid, "DRAM MB").cells, ElementsAre("2.50"));
  EXPECT_THAT(column(grid, "L2 to SM MB").cells, ElementsAre("5.30"));
  EXPECT_THAT(column(grid, "tensor %").cells, ElementsAre("61.5"));
  EXPECT_THAT(column(grid, "shared MB").cells, ElementsAre("128"));
  EXPECT_THAT(column(grid, "conflicts %").cells, ElementsAre("25.0"));
  EXPECT_THAT(column(grid, "counters").cells, ElementsAre("read"));
  EXPECT_FALSE(has(grid, "barrier %")) << "the chip has no such metric";
  EXPECT_FALSE(has(make_grid(testing::report({testing::row("v2", 2)}), {}), "counters"));
}

TEST(CounterColumns, SayInAFewWordsWhyThereAreNoneAndInANoteWhatToDo) {
  Row forbidden = testing::row("v1", 3), counted = counted_by_gpu();
  forbidden.uncounted = "the driver forbids them: ask an administrator";
  const Grid grid = make_grid(testing::report({counted, forbidden, forbidden}), {});
  EXPECT_THAT(column(grid, "counters").cells,
              ElementsAre("read", "the driver forbids them", "the driver forbids them"));
  EXPECT_THAT(column(grid, "DRAM MB").cells, ElementsAre("2.50", "n/a", "n/a"));
  EXPECT_EQ(std::ranges::count(
                grid.notes, "no hardware counters: the driver forbids them: ask an administrator"),
            1);
}

}  // namespace
}  // namespace flashbench
