#include "estimate/estimate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "record/rows.hpp"

namespace flashbench {
namespace {

TEST(Tflops, are_1e12_a_second_and_equal_for_equal_time) {
  Row row = testing::row("v2", 1.0);
  derive(row, {}, std::nullopt);
  EXPECT_NEAR(*row.tflops, 549.755813888, 1e-9);
  EXPECT_FALSE(row.utilization.peak);
  row.what.problem.seq_q = 0;
  row.flops = flops(row.what.problem, row.what.pass);
  derive(row, {}, 989);
  EXPECT_FALSE(row.tflops);
}

TEST(Tflops, are_not_given_to_a_row_that_failed) {
  Row row = testing::row("v2", 1e-3);
  row.status = Status::failed;
  derive(row, {{"gemm", 1e12, 1}}, 989);
  EXPECT_FALSE(row.tflops);
  EXPECT_FALSE(row.utilization.peak);
  EXPECT_FALSE(row.drift);
}

Row costly(std::vector<KernelCost> kernels) {
  Row row = testing::row("v2", 10);
  row.cost = Cost{std::move(kernels), 0, {}};
  return row;
}

TEST(Ceiling, sums_each_kernels_slowest_resource_and_names_the_largest) {
  const KernelCost product{"product", Pipe::mma, 4e12, 1e9, {{{"q", 1e9}}, {}}};
  const KernelCost copy{"copy", Pipe::none, 0, 0, {{{"scores", 1e9}}, {{"scores", 1e9}}}};
  Row row = costly({product, copy});
  derive(row, {{"mma", 1e15, 9}, {"exp2", 1e12, 9}, {"copy", 2e12, 9}}, 500);
  EXPECT_DOUBLE_EQ(*row.utilization.floor_ms, 4 + 1);
  EXPECT_DOUBLE_EQ(*row.utilization.ceiling, 0.5);
  EXPECT_EQ(row.utilization.binds, "mma");
  EXPECT_NEAR(*row.utilization.peak, 54.9755813888 / 500, 1e-12);
}

TEST(Ceiling, counts_what_a_kernel_moves_again_once) {
  Row row = costly({{"reads K often", Pipe::none, 0, 0, {{{"k", 1e12}}, {}}}});
  derive(row, {{"copy", 1e12, 9}}, std::nullopt);
  const Problem& p = row.what.problem;
  const double once = static_cast<double>(p.batch * p.kv_heads * p.seq_k * p.head_dim) *
                      (p.dtype == Dtype::fp32 ? 4 : 2);
  EXPECT_DOUBLE_EQ(*row.utilization.floor_ms, once / 1e12 * 1e3);
}

TEST(Ceiling, leaves_out_what_was_not_measured) {
  Row row = costly({{"product", Pipe::wgmma, 4e15, 2e9, {{{"q", 1e9}}, {}}}});
  derive(row, {{"exp2", 1e12, 9}, {"copy", 0, 9}}, std::nullopt);
  EXPECT_EQ(row.utilization.binds, "exp2");
  EXPECT_DOUBLE_EQ(*row.utilization.floor_ms, 2);
  derive(row, {}, std::nullopt);
  EXPECT_FALSE(row.utilization.ceiling);
  EXPECT_FALSE(row.utilization.floor_ms);
  EXPECT_EQ(row.utilization.binds, "");
}

TEST(Ratio, has_an_interval_narrower_than_the_worst_case) {
  const auto quotient = ratio(testing::time(2, 0.02), testing::time(1, 0.01));
  EXPECT_EQ(quotient->value, 2);
  EXPECT_GT(quotient->low, 1.98 / 1.01);
  EXPECT_LT(quotient->low, 2 * 0.99);
  EXPECT_LT(quotient->high, 2.02 / 0.99);
  EXPECT_GT(quotient->high, 2 * 1.01);
}

TEST(Ratio, does_not_exist_for_times_that_are_not_positive) {
  EXPECT_FALSE(ratio(testing::time(1), testing::time(0)));
  EXPECT_FALSE(ratio(testing::time(0), testing::time(1)));
  EXPECT_FALSE(ratio(testing::time(std::nan("")), testing::time(1)));
}

TEST(Ratio, does_not_exist_where_no_double_holds_it) {
  EXPECT_FALSE(ratio(testing::time(1e308), testing::time(1e-3)));
  EXPECT_FALSE(ratio(testing::time(1e-300), testing::time(1e300)));
  Time wide = testing::time(1e308);
  wide.high = 1.7e308;
  EXPECT_FALSE(ratio(wide, testing::time(0.9)));
}

TEST(Ratio, takes_a_median_without_an_interval_for_both_ends) {
  Time bare = testing::time(2);
  bare.low.reset();
  bare.high.reset();
  const auto quotient = ratio(bare, testing::time(1, 0.01));
  EXPECT_EQ(quotient->value, 2);
  EXPECT_DOUBLE_EQ(quotient->high, 2 / 0.99);
}

TEST(Speedup, has_no_interval_where_a_time_has_none) {
  std::vector<Row> rows{testing::row("v1", 4, 0.1), testing::row("v2", 1)};
  rows[1].time = summarize({{1, 0}, {1, 0}, {1, 0}});
  add_speedups(rows);
  EXPECT_EQ(rows[1].speedup->value, 4);
  EXPECT_FALSE(rows[1].speedup->low);
  EXPECT_FALSE(rows[1].speedup->high);
}

TEST(Speedup, is_over_the_first_implementation_that_is_ok) {
  std::vector<Row> rows{testing::row("naive", 0.001), testing::row("v1", 4), testing::row("v2", 1),
                        testing::row("v2", 1, 0, 1024)};
  rows[0].status = Status::failed;
  add_speedups(rows);
  EXPECT_FALSE(rows[0].speedup);
  EXPECT_EQ(rows[1].speedup->value, 1);
  EXPECT_EQ(rows[2].speedup->vs, "v1");
  EXPECT_EQ(rows[2].speedup->value, 4);
  EXPECT_EQ(rows[3].speedup->vs, "v2");  // another problem
}

TEST(Speedup, of_another_build_is_over_this_builds_row_of_that_name) {
  std::vector<Row> rows{testing::row("naive", 8), testing::row("v2", 2), testing::row("v2", 1),
                        testing::row("v9", 4)};
  rows[2].what.source = rows[3].what.source = "against:old";
  add_speedups(rows);
  EXPECT_EQ(rows[1].speedup->value, 4);
  EXPECT_EQ(rows[2].speedup->vs, "v2 (built-in)");
  EXPECT_EQ(rows[2].speedup->value, 2);
  EXPECT_EQ(rows[3].speedup->value, 2);  // only the other build has it: over the first
}

TEST(Speedup, never_crosses_passes) {
  std::vector<Row> rows{testing::row("v2", 1), testing::row("v2", 3)};
  rows[1].what.pass = Pass::bwd;
  add_speedups(rows);
  EXPECT_EQ(rows[1].speedup->value, 1);
}

}  // namespace
}  // namespace flashbench
