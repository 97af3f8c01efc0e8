// Rows that were not measured, in one report or in both: what is said of them and when that fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compare/compare.hpp"
#include "record/rows.hpp"

namespace flashbench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::report;
using testing::row;

Row unmeasured(const std::string& impl, Status status) {
  Row result = row(impl, 1);
  result.status = status;
  result.reason = "the reason of " + impl;
  result.time.reset();
  result.tflops.reset();
  return result;
}

CompareOptions strict() {
  CompareOptions options;
  options.strict = true;
  return options;
}

// Of v2, beside a v1 that is the same in both.
Comparison of(const Row& base, const Row& now, const CompareOptions& options = {}) {
  return compare(report({row("v1", 1), base}), report({row("v1", 1), now}), options);
}

TEST(OneSided, oom_is_lost_and_fails_only_strictly) {
  for (const Status status : {Status::oom, Status::unsupported, Status::not_run}) {
    const Comparison lax = of(row("v2", 1), unmeasured("v2", status));
    EXPECT_EQ(lax.pairs[1].change, Change::lost);
    EXPECT_EQ(lax.counted(Change::lost), 1u);
    EXPECT_EQ(lax.exit_code, 0);
    const Comparison result = of(row("v2", 1), unmeasured("v2", status), strict());
    EXPECT_EQ(result.exit_code, 1) << name(status);
    ASSERT_EQ(result.failures.size(), 1u);
    EXPECT_THAT(result.failures[0], HasSubstr("1 lost"));
    EXPECT_THAT(render_comparison(result, false), HasSubstr("--strict fails: 1 lost"));
  }
}

TEST(OneSided, oom_is_said_with_its_reason) {
  const Comparison result = of(row("v2", 1), unmeasured("v2", Status::oom));
  EXPECT_EQ(result.pairs[1].reason, "oom now, ok in the base report");
  EXPECT_EQ(result.pairs[1].details, "new: the reason of v2");
  EXPECT_THAT(render_comparison(result, false), HasSubstr("1 lost, 0 gained"));
}

TEST(OneSided, what_only_the_new_report_measured_is_gained) {
  const Comparison result = of(unmeasured("v2", Status::oom), row("v2", 1));
  EXPECT_EQ(result.pairs[1].change, Change::gained);
  EXPECT_EQ(result.pairs[1].reason, "oom in the base report, ok now");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(of(unmeasured("v2", Status::oom), row("v2", 1), strict()).exit_code, 1);
}

TEST(Unmeasured, in_both_reports_is_not_comparable) {
  const Comparison result =
      of(unmeasured("v2", Status::oom), unmeasured("v2", Status::unsupported));
  EXPECT_EQ(result.pairs[1].change, Change::not_comparable);
  EXPECT_EQ(result.exit_code, 0);
}

TEST(Strict, fails_on_every_new_row_that_is_not_ok) {
  for (const Status status : {Status::not_run, Status::oom, Status::unsupported, Status::failed,
                              Status::crashed, Status::timeout}) {
    const Row bad = unmeasured("v2", status);
    EXPECT_EQ(of(bad, bad).exit_code, 0) << name(status);
    EXPECT_EQ(of(bad, bad, strict()).exit_code, 1) << name(status);
  }
  EXPECT_EQ(of(row("v2", 1), row("v2", 1), strict()).exit_code, 0);
}

TEST(Strict, fails_on_a_pair_that_is_not_comparable_but_not_on_reports_that_are_not) {
  Row timeless = row("v2", 1);
  timeless.time->median = 0;
  EXPECT_EQ(of(timeless, row("v2", 1)).exit_code, 0);
  EXPECT_EQ(of(timeless, row("v2", 1), strict()).exit_code, 1);
  const Comparison refused =
      compare(report({row("v2", 1)}, "one"), report({row("v2", 1)}, "other"), strict());
  EXPECT_EQ(refused.exit_code, 6);
  EXPECT_THAT(refused.failures, IsEmpty());
}

TEST(NewRow, that_is_broken_is_exit_1_whether_or_not_the_base_report_has_it) {
  for (const Status status : {Status::failed, Status::crashed, Status::timeout}) {
    const Report base = report({row("v1", 1)});
    const Comparison only_new = compare(base, report({row("v1", 1), unmeasured("v2", status)}), {});
    EXPECT_EQ(only_new.pairs[1].change, Change::added);
    EXPECT_EQ(only_new.pairs[1].reason, "only in the new report, " + std::string(name(status)));
    EXPECT_EQ(only_new.exit_code, 1) << name(status);
    EXPECT_THAT(only_new.failures, ElementsAre(HasSubstr("1 of the new rows failed")));
    for (const Status before : {Status::ok, Status::oom, Status::not_run})
      EXPECT_EQ(of(unmeasured("v2", before), unmeasured("v2", status)).exit_code, 1);
  }
  EXPECT_EQ(of(unmeasured("v2", Status::failed), unmeasured("v2", Status::crashed)).exit_code, 0);
}

TEST(NewRow, that_is_broken_comes_before_a_slower_one_and_other_inputs) {
  Row zeros = row("v1", 1);
  zeros.what.problem.init = Init::zeros;
  const Report base = report({row("v1", 1), row("v3", 1)});
  const Row broken = unmeasured("v2", Status::failed);
  EXPECT_EQ(compare(base, report({row("v1", 2), row("v3", 1), broken}), {}).exit_code, 1);
  EXPECT_EQ(compare(base, report({zeros, row("v3", 1), broken}), {}).exit_code, 1);
}

TEST(Times, whose_quotient_no_number_holds_are_not_comparable) {
  for (const auto& [base, now] : {std::pair{1e-3, 1e308}, std::pair{1e300, 1e-300}}) {
    const Comparison result = of(row("v2", base), row("v2", now));
    EXPECT_EQ(result.pairs[1].change, Change::not_comparable);
    EXPECT_THAT(result.pairs[1].reason, HasSubstr("too large or too small"));
    const std::string text = render_comparison(result, false) + comparison_text(result);
    for (const char* token : {"inf", "nan"}) EXPECT_THAT(text, Not(HasSubstr(token)));
  }
}

TEST(Times, that_differ_without_measure_are_shown_in_few_digits) {
  const Comparison result = of(row("v2", 1e-3), row("v2", 1e304));
  EXPECT_EQ(result.pairs[1].change, Change::slower);
  const std::string text = render_comparison(result, false);
  for (const char* token : {"inf", "nan"}) EXPECT_THAT(text, Not(HasSubstr(token)));
  EXPECT_LT(text.size(), 1200u);
}

TEST(FewSamples, are_judged_as_bare_medians) {
  Row base = row("v2", 1), now = row("v2", 1.2);
  base.time = summarize({{0.9, 0}, {1, 1}, {1.5, 0}});
  now.time = summarize({{1.2, 0}, {1.2, 1}, {1.3, 0}});
  const Comparison result = compare(report({base}), report({now}), {});
  EXPECT_EQ(result.pairs[0].change, Change::slower);
  EXPECT_FALSE(result.pairs[0].time->has_interval);
  EXPECT_EQ(result.pairs[0].reason, "by the median: the reports give no interval");
}

TEST(Counts, name_every_verdict) {
  const std::string text = render_comparison(of(row("v2", 1), row("v2", 1)), false);
  for (const std::string_view verdict : Words<Change>::all)
    EXPECT_THAT(text, HasSubstr(" " + std::string(verdict)));
}

}  // namespace
}  // namespace flashbench
