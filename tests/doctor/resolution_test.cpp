// What the same code timed twice says of the machine.
#include "doctor/resolution.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "record/json.hpp"
#include "record/rows.hpp"

namespace flashbench {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::row;

Twins twins(double one, double other, double half_width = 0.001) {
  return {row("v2", one, one * half_width), row("v2", other, other * half_width)};
}

TEST(Resolution, of_equal_times_is_the_width_of_their_interval) {
  const Resolution result = resolution_of("short", {twins(1, 1), twins(1, 1), twins(1, 1)});
  EXPECT_EQ(result.same_rounds.pairs, 3u);
  EXPECT_EQ(result.other_runs.pairs, 6u);
  EXPECT_EQ(result.same_rounds.largest, 0);
  EXPECT_NEAR(*result.same_rounds.resolved, 0.001 * std::sqrt(2.0), 1e-5);
  EXPECT_EQ(result.median_ms, 1);
  EXPECT_NEAR(*result.half_width, 0.001, 1e-12);
  EXPECT_EQ(result.least_samples, 10);
}

TEST(Resolution, tells_scatter_within_runs_from_that_between_them) {
  const Resolution result = resolution_of("long", {twins(1, 1.01), twins(1.2, 1.212)});
  EXPECT_NEAR(result.same_rounds.largest, 0.01, 1e-12);
  EXPECT_NEAR(result.other_runs.largest, 0.2, 1e-12);
  EXPECT_EQ(result.same_rounds.alarms, 0u);
  EXPECT_EQ(result.other_runs.alarms, 2u) << "compare would have called them SLOWER";
  EXPECT_GT(*result.same_rounds.resolved, 0.01);
  EXPECT_GT(*result.other_runs.resolved, 0.2);
}

TEST(Resolution, does_not_depend_on_which_of_the_two_is_the_slower) {
  const Resolution up = resolution_of("short", {twins(1, 1.1)});
  const Resolution down = resolution_of("short", {twins(1.1, 1)});
  EXPECT_DOUBLE_EQ(up.same_rounds.largest, down.same_rounds.largest);
  EXPECT_NEAR(*up.same_rounds.resolved, *down.same_rounds.resolved, 1e-12);
}

TEST(Resolution, would_have_been_told_apart_in_every_pair) {
  const std::vector<Twins> repeats{twins(1, 1.01, 0.02), twins(1, 0.97, 0.01)};
  const double resolved = *resolution_of("short", repeats).same_rounds.resolved;
  for (const auto& [one, other] : repeats)
    for (const auto& [fast, slow] : {std::pair(one, other), std::pair(other, one)}) {
      Time slower = *slow.time;
      for (double* ms : {&slower.median, &*slower.low, &*slower.high}) *ms *= 1 + resolved * 1.0001;
      EXPECT_GT(ratio(slower, *fast.time)->low, 1);
    }
}

TEST(Resolution, is_not_known_where_a_median_has_no_interval) {
  Twins few = twins(1, 1);
  few.one.time->low = few.one.time->high = std::nullopt;
  few.one.time->n = 4;
  const Resolution result = resolution_of("long", {twins(1, 1), few});
  EXPECT_FALSE(result.same_rounds.resolved);
  EXPECT_FALSE(result.half_width);
  EXPECT_EQ(result.least_samples, 4);
}

TEST(Resolution, leaves_out_what_was_not_measured) {
  Twins broken = twins(1, 2);
  broken.other.status = Status::crashed;
  const Resolution result = resolution_of("long", {broken});
  EXPECT_EQ(result.same_rounds.pairs, 0u);
  EXPECT_FALSE(result.same_rounds.resolved);
  EXPECT_EQ(resolution_of("long", {}).median_ms, std::nullopt);
}

TEST(Resolution, has_the_clock_and_the_flags_of_all_repeats) {
  Twins first = twins(1, 1), second = twins(1, 1);
  first.one.clock_mhz = first.other.clock_mhz = second.one.clock_mhz = 1900;
  second.other.clock_mhz = 1500;
  first.one.flags = {"imprecise"};
  second.other.flags = {"power_capped", "imprecise"};
  const Resolution result = resolution_of("short", {first, second});
  EXPECT_EQ(result.clock_mhz, 1900);
  EXPECT_THAT(result.flags, ElementsAre("imprecise", "power_capped"));
}

TEST(TimerStep, is_the_smallest_difference_of_two_times) {
  EXPECT_DOUBLE_EQ(*smallest_step({1.5, 1, 1.25, 1}), 0.25);
  EXPECT_FALSE(smallest_step({1, 1}));
  EXPECT_FALSE(smallest_step({}));
}

Diagnosis quiet() {
  Diagnosis diagnosis;
  diagnosis.time_budget_s = 1;
  diagnosis.machine.cpus = 4;
  diagnosis.machine.load = 0.1;
  diagnosis.machine.busy = 0.01;
  diagnosis.machine.stolen = 0;
  diagnosis.machine.governor = "performance";
  diagnosis.machine.turbo = false;
  diagnosis.rows = {resolution_of("short", {twins(1, 1)})};
  return diagnosis;
}

TEST(Advice, is_none_where_there_is_no_trouble) {
  EXPECT_THAT(advice_on(quiet()), IsEmpty());
}

TEST(Advice, is_a_sentence_a_trouble) {
  Diagnosis busy = quiet();
  busy.machine.load = 4.5;
  EXPECT_THAT(advice_on(busy), ElementsAre(HasSubstr("load average 4.5 on 4 CPUs")));
  busy.machine.busy = 0.6;
  busy.machine.stolen = 0.05;
  busy.machine.cpu_quota = 1.5;
  busy.machine.governor = "powersave";
  busy.machine.turbo = true;
  const auto advice = advice_on(busy);
  EXPECT_EQ(advice.size(), 6u);
  for (const char* word : {"60 % busy", "5.0 %", "1.5 of 4", "powersave", "turbo"})
    EXPECT_THAT(advice, Contains(HasSubstr(word)));
}

TEST(Advice, on_a_gpu_is_of_its_clocks_and_neighbours) {
  Diagnosis gpu = quiet();
  gpu.device.backend = Backend::cuda;
  gpu.device.power_limit_w = 700;
  gpu.machine.turbo = true;
  gpu.rows[0].flags = {"power_capped", "contended", "cpu_bound", "throttled"};
  const auto advice = advice_on(gpu);
  EXPECT_EQ(advice.size(), 4u) << "the CPU's turbo is nothing to the GPU";
  for (const char* word : {"700 W", "another process", "enqueues", "cooling"})
    EXPECT_THAT(advice, Contains(HasSubstr(word)));
}

TEST(Advice, names_the_threshold_that_scatter_between_runs_asks_for) {
  Diagnosis scattered = quiet();
  scattered.rows = {resolution_of("long", {twins(1, 1), twins(1.113, 1.113)})};
  EXPECT_THAT(advice_on(scattered), ElementsAre(HasSubstr("--threshold 12%")));
  scattered.rows = {resolution_of("long", {twins(1, 1), twins(3, 3)})};
  EXPECT_THAT(advice_on(scattered), ElementsAre(HasSubstr("cannot be compared")))
      << "no threshold is 100 % or more";
}

TEST(Advice, asks_for_time_where_there_are_too_few_samples) {
  Diagnosis slow = quiet();
  slow.rows[0].half_width.reset();
  slow.rows[0].least_samples = 3;
  EXPECT_THAT(advice_on(slow),
              ElementsAre(HasSubstr("--time-budget 1 let a repeat take 3 of the 6 samples")));
}

TEST(DoctorJson, is_strict_and_has_null_for_what_is_not_known) {
  Diagnosis diagnosis = quiet();
  diagnosis.rows[0].same_rounds.resolved.reset();
  const Json json = Json::parse(diagnosis_text(diagnosis));
  EXPECT_EQ(json["schema"], "flashbench.doctor/1");
  EXPECT_TRUE(json["rows"][0]["same_rounds"]["resolved"].is_null());
  EXPECT_TRUE(json["launch_gap_us"].is_null());
  EXPECT_EQ(json["machine"]["turbo"], false);
  EXPECT_EQ(json["rows"][0]["other_runs"]["pairs"], 0);
}

}  // namespace
}  // namespace flashbench
