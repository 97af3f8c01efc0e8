#include "compare/compare.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compare/merge.hpp"
#include "record/rows.hpp"
#include "report/grid.hpp"

namespace flashbench {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::report;
using testing::row;

Comparison compare_times(double base, double now, double half_width = 0,
                         CompareOptions options = {}) {
  return compare(report({row("v2", base, base * half_width)}),
                 report({row("v2", now, now * half_width)}), options);
}

Change change_of(const Comparison& comparison, const std::string& key) {
  for (const Pair& pair : comparison.pairs)
    if (shown_key(pair.row) == key) return pair.change;
  ADD_FAILURE() << key;
  return Change::unsure;
}

TEST(Compare, judges_time_and_tflops_in_opposite_directions) {
  const Comparison better = compare_times(2, 1), worse = compare_times(1, 2);
  EXPECT_EQ(better.pairs[0].change, Change::faster);
  EXPECT_EQ(better.exit_code, 0);
  EXPECT_EQ(better.pairs[0].time->value, 0.5);
  EXPECT_DOUBLE_EQ(*better.pairs[0].tflops, 2);
  EXPECT_EQ(worse.pairs[0].change, Change::slower);
  EXPECT_EQ(worse.exit_code, 5);
  EXPECT_DOUBLE_EQ(*worse.pairs[0].tflops, 0.5);
}

TEST(Compare, passes_just_below_the_threshold_and_fails_just_above) {
  for (const double half_width : {0.0, 0.001, 0.005}) {
    EXPECT_EQ(compare_times(1, 1.049, half_width).exit_code, 0) << half_width;
    EXPECT_EQ(compare_times(1, 1.051, half_width).exit_code, 5) << half_width;
  }
  EXPECT_EQ(compare_times(1, 1.05).pairs[0].change, Change::same);
  EXPECT_EQ(compare_times(1, 1.049).pairs[0].change, Change::same);
  CompareOptions one_percent;
  one_percent.threshold = 0.01;
  EXPECT_EQ(compare_times(1, 1.011, 0, one_percent).exit_code, 5);
}

TEST(Compare, takes_the_threshold_of_a_single_row) {
  CompareOptions options;
  options.thresholds[key(row("v2", 1).what)] = 0.5;
  EXPECT_EQ(compare_times(1, 1.4, 0, options).exit_code, 0);
}

TEST(Compare, is_unsure_when_the_intervals_cannot_tell) {
  const Comparison noisy = compare_times(1, 1.08, 0.2);
  EXPECT_EQ(noisy.pairs[0].change, Change::unsure);
  EXPECT_EQ(noisy.exit_code, 0);
  CompareOptions strict;
  strict.strict = true;
  EXPECT_EQ(compare_times(1, 1.08, 0.2, strict).exit_code, 1);
  EXPECT_EQ(compare_times(1, 1, 0.001, strict).exit_code, 0);
  EXPECT_EQ(compare_times(1, 1, 0.2).pairs[0].change, Change::unsure);
}

TEST(Compare, is_unsure_of_a_single_sample) {
  Row base = row("v2", 1), now = row("v2", 2);
  now.time->n = 1;
  EXPECT_EQ(compare(report({base}), report({now}), {}).pairs[0].change, Change::unsure);
}

TEST(Compare, pairs_what_both_have_and_names_the_rest) {
  std::vector<Row> base{row("A", 1), row("B", 1), row("C", 1), row("D", 1)};
  base[2].time = testing::time(0);
  base[3].time.reset();
  const Report now = report({row("B", 1), row("C", 1), row("D", 1), row("E", 1)});
  const Comparison result = compare(report(base), now, {});
  EXPECT_EQ(change_of(result, key(base[0].what)), Change::missing);
  EXPECT_EQ(change_of(result, key(base[1].what)), Change::same);
  EXPECT_EQ(change_of(result, key(base[2].what)), Change::not_comparable);
  EXPECT_EQ(change_of(result, key(base[3].what)), Change::not_comparable);
  EXPECT_EQ(change_of(result, key(row("E", 1).what)), Change::added);
  EXPECT_EQ(result.exit_code, 0);
  const std::string text = render_comparison(result, false);
  EXPECT_THAT(text, HasSubstr("0 FASTER, 0 SLOWER, 1 SAME, 0 UNSURE, 0 lost, 0 gained, "
                              "1 missing, 1 new, 2 not comparable"));
  EXPECT_THAT(text, Not(HasSubstr("inf")));
  EXPECT_THAT(text, Not(HasSubstr("nan")));

  CompareOptions strict;
  strict.strict = true;
  EXPECT_EQ(compare(report(base), now, strict).exit_code, 1);
  Report slower = now;
  slower.rows[0] = row("B", 2);
  EXPECT_EQ(compare(report(base), slower, {}).exit_code, 5);
}

TEST(Compare, of_nothing_in_common_is_4) {
  EXPECT_EQ(compare(report({row("v1", 1)}), report({row("v2", 1)}), {}).exit_code, 4);
  EXPECT_EQ(compare(report({}), report({}), {}).exit_code, 4);
}

TEST(Compare, never_pairs_forward_with_backward) {
  Row backward = row("v2", 1);
  backward.what.pass = Pass::bwd;
  const Comparison result = compare(report({row("v2", 1)}), report({backward}), {});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_EQ(result.pairs.size(), 2u);
}

TEST(Compare, refuses_another_gpu_model_unless_allowed) {
  const Report base = report({row("v2", 1)}, "NVIDIA H100 PCIe");
  const Report now = report({row("v2", 1)}, "NVIDIA H200");
  const Comparison refused = compare(base, now, {});
  EXPECT_EQ(refused.exit_code, 6);
  EXPECT_EQ(refused.pairs[0].change, Change::not_comparable);
  EXPECT_THAT(render_comparison(refused, false),
              HasSubstr("device.name: NVIDIA H100 PCIe against NVIDIA H200"));
  CompareOptions allow;
  allow.allow_different = true;
  const Comparison allowed = compare(base, now, allow);
  EXPECT_EQ(allowed.exit_code, 0);
  EXPECT_EQ(allowed.pairs[0].change, Change::same);
  EXPECT_THAT(render_comparison(allowed, false), HasSubstr("DIFFERENT CONDITIONS"));
}

TEST(Compare, holds_each_row_of_a_merged_report_against_the_device_it_comes_from) {
  const Report h200 = report({row("v1", 2)}), h100 = report({row("v2", 1)}, "NVIDIA H100 PCIe");
  const Report merged = merge({{"a.json", h200}, {"b.json", h100}}).report;
  const Comparison result = compare(merged, report({row("v1", 2), row("v2", 1)}), {});
  EXPECT_EQ(result.exit_code, 6);
  EXPECT_EQ(result.pairs[0].change, Change::same);
  EXPECT_EQ(result.pairs[1].change, Change::not_comparable);
  EXPECT_EQ(result.pairs[1].reason, "another device.name");
  EXPECT_THAT(result.warnings, Not(Contains(HasSubstr("does not say which device"))));
}

TEST(Compare, accepts_the_same_model_under_another_index) {
  Report base = report({row("v2", 1)}), now = base;
  base.device.ordinal = 4;
  now.device.ordinal = 0;
  now.device.uuid = "GPU-2";
  const Comparison result = compare(base, now, {});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(result.warnings.empty());
}

TEST(Compare, warns_of_a_baseline_that_names_no_device) {
  Report base = report({row("v2", 1)}, "");
  const Comparison result = compare(base, report({row("v2", 1)}), {});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.warnings, Contains(HasSubstr("does not say which device")));
}

TEST(Compare, compares_backends_only_when_allowed) {
  Row cpu = row("v2", 100);
  cpu.what.backend = Backend::cpu;
  Report base = report({cpu}, "some CPU");
  base.device.backend = Backend::cpu;
  EXPECT_EQ(compare(base, report({row("v2", 1)}), {}).exit_code, 6);
  CompareOptions allow;
  allow.allow_different = true;
  EXPECT_EQ(compare(base, report({row("v2", 1)}), allow).pairs[0].change, Change::faster);
}

TEST(Compare, refuses_zeros_against_normal_inputs) {
  Row zeros = row("v2", 0.9), other = row("v1", 1);
  zeros.what.problem.init = Init::zeros;
  const Report base = report({row("v2", 1), other}), now = report({zeros, other});
  const Comparison result = compare(base, now, {});
  EXPECT_EQ(result.exit_code, 6);
  EXPECT_EQ(result.pairs[0].change, Change::not_comparable);
  EXPECT_EQ(result.pairs[1].change, Change::same);
  EXPECT_THAT(result.differing, Contains("init: normal against zeros"));
  CompareOptions allow;
  allow.allow_different = true;
  EXPECT_EQ(compare(base, now, allow).pairs[0].change, Change::faster);
}

TEST(Compare, refuses_another_way_of_measuring) {
  Report base = report({row("v2", 1)}), now = base;
  now.measurement.method = "2";
  EXPECT_EQ(compare(base, now, {}).exit_code, 6);
}

TEST(Compare, warns_of_incomplete_reports_and_other_companions) {
  Report base = report({row("v2", 1)}), now = base;
  base.complete = false;
  now.rows[0].shared_rounds_with = {"naive"};
  now.measurement.seed = 2;
  const Comparison result = compare(base, now, {});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.warnings, Contains(HasSubstr("base report is incomplete")));
  EXPECT_THAT(result.warnings, Contains(HasSubstr("shared their rounds")));
  EXPECT_THAT(result.warnings, Contains(HasSubstr("seed")));
}

TEST(Compare, fails_when_a_row_that_was_ok_is_broken_now) {
  Row broken = row("v2", 0.001);
  broken.status = Status::failed;
  broken.reason = "o is wrong";
  const Report base = report({row("v1", 1), row("v2", 1)});
  const Comparison result = compare(base, report({row("v1", 1), broken}), {});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.pairs[1].change, Change::lost);
  EXPECT_FALSE(result.pairs[1].new_ms);
}

TEST(Compare, meets_another_build_when_asked) {
  Row old = row("v2", 2);
  old.what.source = "against:old";
  CompareOptions across;
  across.across_sources = true;
  EXPECT_EQ(compare(report({old}), report({row("v2", 1)}), across).pairs[0].change, Change::faster);
  EXPECT_TRUE(compare(report({old}), report({row("v2", 1)}), across).warnings.empty());
  EXPECT_EQ(compare(report({old}), report({row("v2", 1)}), {}).exit_code, 4);
}

TEST(Compare, prefers_a_slower_row_over_nothing_compared_and_refusal_over_slower) {
  Row zeros = row("v2", 1);
  zeros.what.problem.init = Init::zeros;
  const Report base = report({row("v2", 1), row("v1", 1)});
  EXPECT_EQ(compare(base, report({zeros, row("v1", 2)}), {}).exit_code, 6);
}

TEST(RenderedComparison, has_colour_only_when_asked) {
  EXPECT_THAT(render_comparison(compare_times(1, 2), false), Not(HasSubstr("\x1b")));
  EXPECT_THAT(render_comparison(compare_times(1, 2), true), HasSubstr("\x1b[31m"));
  EXPECT_THAT(render_comparison(compare_times(1, 2), false), HasSubstr("+100.00"));
}

}  // namespace
}  // namespace flashbench
