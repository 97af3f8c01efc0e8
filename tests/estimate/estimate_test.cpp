#include "estimate/estimate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "record/rows.hpp"

namespace flashbench {
namespace {

std::vector<Sample> samples(std::initializer_list<double> times) {
  std::vector<Sample> result;
  for (const double ms : times) result.push_back({ms, 0});
  return result;
}

TEST(Summary, of_nothing_is_zero_and_has_no_width) {
  const Time time = summarize({});
  EXPECT_EQ(time.n, 0);
  EXPECT_EQ(time.median, 0);
  EXPECT_TRUE(std::isinf(relative_half_width(time)));
  EXPECT_TRUE(std::isinf(relative_half_width(summarize(samples({1})))));
}

TEST(Summary, of_fewer_than_six_samples_is_a_median_without_an_interval) {
  const Time time = summarize(samples({3, 1, 2, 5, 4}));
  EXPECT_EQ(time.median, 3);
  EXPECT_FALSE(time.low);
  EXPECT_FALSE(time.high);
  EXPECT_FALSE(has_interval(time));
  EXPECT_TRUE(std::isinf(relative_half_width(time))) << "such a row is never precise";
  EXPECT_EQ(time.min, 1);
  EXPECT_EQ(time.mean, 3);
  EXPECT_DOUBLE_EQ(time.stddev, std::sqrt(2.5));
  EXPECT_EQ(time.samples[0].ms, 3);  // in the order of measuring
}

TEST(Summary, of_six_samples_has_an_interval_that_spans_them) {
  const Time time = summarize(samples({3, 1, 2, 5, 4, 6}));
  EXPECT_EQ(time.low, 1);
  EXPECT_EQ(time.high, 6);
}

TEST(Summary, of_ten_leaves_out_one_at_each_end) {
  const Time time = summarize(samples({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  EXPECT_EQ(time.median, 5.5);
  EXPECT_EQ(time.low, 2);
  EXPECT_EQ(time.high, 9);
}

TEST(Summary, covers_the_median_at_least_ninety_five_times_of_a_hundred) {
  std::mt19937 random(1);
  std::lognormal_distribution<double> skewed;
  for (const std::size_t n : {6u, 17u, 100u, 1500u}) {
    int covered = 0;
    const int repeats = 2000;
    for (int i = 0; i < repeats; ++i) {
      std::vector<Sample> drawn(n);
      for (Sample& sample : drawn) sample.ms = skewed(random);
      const Time time = summarize(drawn);
      covered += time.low <= 1 && 1 <= time.high;
    }
    EXPECT_GE(covered, repeats * 0.94) << n;
    EXPECT_LE(covered, repeats * 0.99) << n;
  }
}

TEST(Summary, is_not_spoilt_by_a_sample_that_is_no_number) {
  const Time time = summarize(samples({1, std::nan(""), 1}));
  EXPECT_EQ(time.median, 1);
  EXPECT_EQ(time.n, 2);
}

TEST(Drift, of_a_slowing_run_is_flagged) {
  Row row = testing::row("v2", 1);
  std::vector<Sample> slowing(100, {1.0, 0});
  for (std::size_t i = 50; i < 100; ++i) slowing[i].ms = 1.15;
  EXPECT_NEAR(drift(slowing).value_or(0), 0.15, 1e-12);
  row.time = summarize(slowing);
  derive(row, {}, std::nullopt);
  EXPECT_NEAR(*row.drift, 0.15, 1e-12);
  EXPECT_EQ(row.flags, std::vector<std::string>{"drift"});
  derive(row, {}, std::nullopt);
  EXPECT_EQ(row.flags.size(), 1u);
}

TEST(Drift, is_not_known_of_few_samples_and_none_of_a_steady_run) {
  EXPECT_FALSE(drift(samples({1, 2, 3})));
  EXPECT_FALSE(drift(std::vector<Sample>(39, {2, 0})));
  EXPECT_EQ(drift(std::vector<Sample>(40, {2, 0})), 0);
}

// Of `repeats` rows of n independent samples, how many are flagged.
int flagged_by_noise(std::size_t n, int repeats) {
  std::mt19937 random(7);
  std::lognormal_distribution<double> noise(0, 0.3);
  Row row = testing::row("v2", 1);
  int flagged = 0;
  for (int i = 0; i < repeats; ++i) {
    std::vector<Sample> drawn(n);
    for (Sample& sample : drawn) sample.ms = noise(random);
    row.time = summarize(drawn);
    derive(row, {}, std::nullopt);
    flagged += row.flags.empty() ? 0 : 1;
  }
  return flagged;
}

TEST(Drift, is_flagged_in_less_than_one_of_a_thousand_rows_that_are_only_noisy) {
  EXPECT_EQ(flagged_by_noise(20, 2000), 0) << "too few to tell";
  for (const std::size_t n : {40u, 100u, 400u}) EXPECT_LE(flagged_by_noise(n, 4000), 4) << n;
}

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
  rows[1].time = summarize(samples({1, 1, 1}));
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
