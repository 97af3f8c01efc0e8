#include "estimate/bounds.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "estimate/estimate.hpp"
#include "record/rows.hpp"

namespace flashbench {
namespace {

using testing::time;

Time of_few(double median) {
  return *testing::without_interval(testing::row("v1", median)).time;
}

TEST(Bounds, of_enough_samples_are_the_95_percent_interval) {
  const Bounds one = bounds(time(4, 0.5));
  EXPECT_EQ(one.low, 3.5);
  EXPECT_EQ(one.high, 4.5);
  const Bounds two = quotient_bounds(time(4, 0.5), time(2, 0.1));
  const Ratio interval = *ratio(time(4, 0.5), time(2, 0.1));
  EXPECT_EQ(two.low, interval.low);
  EXPECT_EQ(two.high, interval.high);
}

TEST(Bounds, of_few_samples_begin_at_half_the_shortest_and_have_no_end) {
  const Bounds few = bounds(of_few(8));
  EXPECT_EQ(few.low, 4);
  EXPECT_TRUE(std::isinf(few.high));
}

TEST(Bounds, of_a_quotient_have_the_end_that_few_samples_leave) {
  const Bounds few_over = quotient_bounds(of_few(8), time(1, 0.25));
  EXPECT_EQ(few_over.low, 4 / 1.25);
  EXPECT_TRUE(std::isinf(few_over.high));
  const Bounds few_under = quotient_bounds(time(1, 0.25), of_few(8));
  EXPECT_EQ(few_under.low, 0);
  EXPECT_EQ(few_under.high, 1.25 / 4);
}

TEST(Bounds, of_what_is_not_known_exclude_nothing) {
  Time bare;
  bare.median = 3;
  for (const Bounds& open : {quotient_bounds(of_few(8), of_few(1)), bounds(bare),
                             quotient_bounds(bare, bare), quotient_bounds(Time{}, Time{})}) {
    EXPECT_EQ(open.low, 0);
    EXPECT_TRUE(std::isinf(open.high));
  }
}

}  // namespace
}  // namespace flashbench
