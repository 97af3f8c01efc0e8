#include "estimate/summary.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "estimate/estimate.hpp"
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

// As the clock of a GPU at its power limit: what one sample met, the next ones meet as well.
TEST(Summary, covers_the_median_of_samples_that_are_like_the_one_before) {
  std::mt19937 random(2);
  std::normal_distribution<double> noise;
  int covered = 0;
  const int repeats = 500;
  for (int i = 0; i < repeats; ++i) {
    std::vector<Sample> drawn(600);
    double state = noise(random) * 3;
    for (Sample& sample : drawn) {
      state = 0.95 * state + noise(random);
      sample.ms = 100 + state;
    }
    const Time time = summarize(drawn);
    covered += time.low <= 100 && 100 <= time.high;
  }
  EXPECT_GE(covered, repeats * 0.9) << "a third, were they taken for independent";
}

TEST(Summary, of_independent_samples_is_hardly_ever_taken_for_that_of_others) {
  std::mt19937 random(3);
  std::normal_distribution<double> noise;
  int kept = 0;
  const int repeats = 1000;
  for (int i = 0; i < repeats; ++i) {
    std::vector<Sample> drawn(100);
    for (Sample& sample : drawn) sample.ms = 100 + noise(random);
    const Time time = summarize(drawn);
    std::ranges::sort(drawn, {}, &Sample::ms);
    kept += time.low == drawn[39].ms && time.high == drawn[60].ms;
  }
  EXPECT_GE(kept, repeats * 0.97);
}

TEST(Summary, of_two_speeds_one_after_the_other_spans_both) {
  std::vector<Sample> drawn(200);
  for (std::size_t i = 0; i < drawn.size(); ++i) drawn[i].ms = i < 70 ? 1.5 : 1.4;
  const Time time = summarize(drawn);
  EXPECT_EQ(time.median, 1.4);
  EXPECT_EQ(time.low, 1.4);
  EXPECT_EQ(time.high, 1.5);
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

}  // namespace
}  // namespace flashbench
