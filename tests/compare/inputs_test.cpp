// Rows are compared only on the same inputs, and by what their reports say of their times.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compare/compare.hpp"
#include "record/json.hpp"
#include "record/rows.hpp"

namespace flashbench {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using testing::in_report;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::report;
using testing::row;

Row loaded(double median, const std::vector<std::string>& checksum) {
  Row result = row("v2", median);
  result.what.problem.init = Init::loaded;
  result.inputs_checksum = checksum;
  return result;
}

TEST(ComparedInputs, loaded_from_files_must_be_the_same) {
  const Report base = report({loaded(1, {"a-b-c", "a-b-c"}), row("v1", 1)});
  const Report now = report({loaded(1, {"a-b-d", "a-b-d"}), row("v1", 1)});
  const Comparison result = compare(base, now, {});
  EXPECT_EQ(result.exit_code, 6);
  EXPECT_EQ(result.pairs[0].change, Change::not_comparable);
  EXPECT_EQ(result.pairs[1].change, Change::same);
  EXPECT_THAT(result.differing, Contains("inputs_checksum: a-b-c against a-b-d"));
  CompareOptions allow;
  allow.allow_different = true;
  const Comparison allowed = compare(base, now, allow);
  EXPECT_EQ(allowed.exit_code, 0);
  EXPECT_EQ(allowed.pairs[0].change, Change::same);
  EXPECT_TRUE(allowed.allowed_different);
}

TEST(ComparedInputs, that_are_the_same_are_compared_without_a_word) {
  const Comparison result =
      compare(report({loaded(1, {"a-b-c"})}), report({loaded(1.2, {"a-b-c"})}), {});
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_THAT(result.warnings, IsEmpty());
}

TEST(ComparedInputs, that_a_report_does_not_identify_are_warned_of) {
  const Comparison result = compare(report({loaded(1, {})}), report({loaded(1, {"a-b-c"})}), {});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.pairs[0].change, Change::same);
  EXPECT_THAT(result.warnings, Contains(HasSubstr("other inputs")));
}

TEST(ComparedInputs, made_from_another_seed_are_only_warned_of) {
  Row one = row("v2", 1), other = row("v2", 1);
  one.inputs_checksum = {"1-2-3"};
  other.inputs_checksum = {"4-5-6"};
  EXPECT_EQ(compare(report({one}), report({other}), {}).exit_code, 0);
}

TEST(ComparedInputs, of_a_row_that_does_not_say_its_init_are_not_taken_for_normal) {
  const Report base = parse_report(
      in_report(R"("device":{"name":"X"},"rows":[{"impl":"v2","time_ms":{"median":1}}])"), "b");
  Report now = base;
  now.rows[0].unrecorded.erase("problem/init");
  now.rows[0].what.problem.init = Init::zeros;
  const Comparison result = compare(base, now, {});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.pairs[0].change, Change::same);
  EXPECT_THAT(result.warnings, Contains(HasSubstr("other inputs")));
}

Report bare(double median) {
  return parse_report(
      in_report(R"("rows":[{"key":"A","time_ms":{"median":)" + std::to_string(median) + "}}]"),
      "r.json");
}

TEST(BareMedians, are_judged_by_the_threshold_alone) {  // C15
  EXPECT_EQ(compare(bare(1), bare(1.049), {}).exit_code, 0);
  EXPECT_EQ(compare(bare(1), bare(1.049), {}).pairs[0].change, Change::same);
  EXPECT_EQ(compare(bare(1), bare(1.051), {}).exit_code, 5);
  EXPECT_EQ(compare(bare(2), bare(1), {}).pairs[0].change, Change::faster);
}

TEST(BareMedians, that_are_null_are_not_compared) {  // C13
  const Report null =
      parse_report(in_report(R"("rows":[{"key":"A","time_ms":{"median":null}}])"), "r.json");
  const Comparison result = compare(null, bare(1), {});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_EQ(result.pairs[0].change, Change::not_comparable);
  EXPECT_EQ(result.pairs[0].reason, "base: no time");
}

TEST(BareMedians, show_no_interval_and_say_why) {
  const Comparison result = compare(bare(1), bare(1.2), {});
  EXPECT_FALSE(result.pairs[0].time->has_interval);
  const std::string text = render_comparison(result, false);
  EXPECT_THAT(text, HasSubstr("SLOWER: by the median: the reports give no interval"));
  EXPECT_THAT(text, Not(HasSubstr(" to ")));
}

TEST(BareMedians, against_an_interval_that_is_too_wide_are_unsure) {
  const Report wide = parse_report(
      in_report(R"("rows":[{"key":"A","time_ms":{"median":1,"low":0.8,"high":1.3}}])"), "r.json");
  const Comparison result = compare(wide, bare(1.2), {});
  EXPECT_EQ(result.pairs[0].change, Change::unsure);
  EXPECT_FALSE(result.pairs[0].time->has_interval);
}

TEST(BareMedians, are_what_a_file_gives_an_interval_for_that_fewer_than_six_samples_cannot_have) {
  const auto of_samples = [](int n) {
    return parse_report(
        in_report(R"("rows":[{"key":"A","time_ms":{"median":1,"low":0.8,"high":1.3,"n":)" +
                  std::to_string(n) + "}}]"),
        "r.json");
  };
  EXPECT_EQ(compare(of_samples(6), of_samples(6), {}).pairs[0].change, Change::unsure);
  const Comparison few = compare(of_samples(5), of_samples(6), {});
  EXPECT_FALSE(few.pairs[0].time->has_interval);
  const Comparison both = compare(of_samples(5), of_samples(5), {});
  EXPECT_EQ(both.pairs[0].change, Change::same);
  EXPECT_EQ(both.pairs[0].time->low, 1);
}

TEST(BareMedians, of_a_single_sample_are_unsure) {
  const Report single =
      parse_report(in_report(R"("rows":[{"key":"A","time_ms":{"median":1.2,"n":1}}])"), "r.json");
  EXPECT_EQ(compare(bare(1), single, {}).pairs[0].change, Change::unsure);
}

TEST(ForeignReports, differ_only_in_what_both_say) {
  const auto with_device = [](const char* backend) {
    return parse_report(in_report(std::string(R"("device":{"name":"X")") + backend +
                                  R"(},"rows":[{"key":"A","time_ms":{"median":1}}])"),
                        "r.json");
  };
  const Comparison result = compare(with_device(""), with_device(R"(,"backend":"cuda")"), {});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.differing, IsEmpty());
  EXPECT_THAT(result.warnings, Not(Contains(HasSubstr("incomplete")))) << "nobody says so";
  EXPECT_THAT(result.warnings, Not(Contains(HasSubstr("seed"))));
}

TEST(RenderedComparison, leaves_the_warnings_to_standard_error) {
  Report base = report({row("v2", 1)});
  base.complete = false;
  const Comparison result = compare(base, report({row("v2", 1)}), {});
  ASSERT_THAT(result.warnings, Contains(HasSubstr("incomplete")));
  EXPECT_THAT(render_comparison(result, false), Not(HasSubstr("incomplete")));
}

}  // namespace
}  // namespace flashbench
