// What --explain prints is true: its arithmetic gives its results, and these are the row's.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "record/json.hpp"
#include "record/rows.hpp"
#include "report/golden.hpp"
#include "report/report.hpp"
#include "support/arithmetic.hpp"
#include "support/text.hpp"

namespace flashbench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Report saved() {
  const std::string path = testing::corpus("report.json");
  return parse_report(testing::content(path), path);
}

// The results by what they are; of several floors the last.
using Results = std::map<std::string, double>;

// Evaluates every formula of an explanation.
Results check_arithmetic(const std::string& text) {
  Results results;
  for (const std::string& line : test::lines_of(text)) {
    if (!line.starts_with("  ") || test::contains(line, "status")) continue;
    const std::string what = line.substr(2, line.find("  ", 2) - 2);
    const std::string formula = line.substr(what.size() + 2, line.find(';') - what.size() - 2);
    const std::size_t equals = formula.find(" = ");
    const std::string result = equals == formula.npos ? formula : formula.substr(equals + 3);
    results[what] = test::Arithmetic::value_of(result);
    if (equals == formula.npos) continue;
    const double value = test::Arithmetic::value_of(formula.substr(0, equals));
    EXPECT_NEAR(value, results[what], 2e-6 * std::abs(value)) << line;
  }
  return results;
}

void expect_close(const Results& results, const char* what, double recorded) {
  const auto found = results.find(what);
  ASSERT_NE(found, results.end()) << what;
  EXPECT_NEAR(found->second, recorded, 1e-6 * std::abs(recorded)) << what;
}

TEST(Explain, every_formula_of_the_golden_report_gives_what_its_row_says) {
  const Report report = saved();
  int measured = 0;
  for (const Row& row : report.rows) {
    const std::string text = explain(report, row);
    EXPECT_THAT(text, Not(HasSubstr("the row says")));
    const Results results = check_arithmetic(text);
    expect_close(results, "FLOPs counted", row.flops.counted);
    expect_close(results, "FLOPs exact", row.flops.exact);
    if (row.status != Status::ok) continue;
    ++measured;
    expect_close(results, "TFLOPS", *row.tflops);
    expect_close(results, "% of peak", 100 * *row.utilization.peak);
    const bool several = row.cost->kernels.size() > 1;
    expect_close(results, several ? "floor, all" : "floor", *row.utilization.floor_ms);
    expect_close(results, "% of ceiling", 100 * *row.utilization.ceiling);
    expect_close(results, "speed-up x", row.speedup->value);
    if (row.what.impl == "naive") continue;
    expect_close(results, "from", *row.speedup->low);
    expect_close(results, "to", *row.speedup->high);
  }
  EXPECT_EQ(measured, 5);
}

TEST(Explain, golden) {
  const Report report = saved();
  std::string text;
  for (const Row& row : report.rows) text += explain(report, row);
  testing::expect_golden("report.explain.txt", text);
}

TEST(Explain, says_so_where_the_row_says_otherwise) {
  Report report = saved();
  Row& row = report.rows.at(2);
  ASSERT_EQ(row.what.impl, "v2");
  const auto doubted = [&] {
    std::string labels;
    for (const std::string& line : test::lines_of(explain(report, row)))
      if (test::contains(line, "the row says")) labels += line.substr(2, 4) + "|";
    return labels;
  };
  const Row right = row;
  row.tflops = *row.tflops * 1.001;
  EXPECT_EQ(doubted(), "TFLO|");
  row = right;
  row.utilization = {0.5, 0.5, "copy", 0.1};
  EXPECT_EQ(doubted(), "% of|floo|bind|% of|");
  row = right;
  row.speedup->low = 1;
  EXPECT_EQ(doubted(), "from|");
  row = right;
  row.flops.counted *= 2;
  EXPECT_EQ(doubted(), "FLOP|TFLO|% of|");
}

TEST(Explain, a_backward_has_two_and_a_half_times_the_flops_and_both_passes_three_and_a_half) {
  for (const auto& [pass, factor] : {std::pair{Pass::bwd, 2.5}, {Pass::fwd_bwd, 3.5}}) {
    Row row = testing::row("v2", 1);
    row.what.pass = pass;
    row.what.problem.mask = Mask::causal;
    row.what.problem.seq_k *= 2;
    row.flops = flops(row.what.problem, pass);
    const Report report = testing::report({row});
    const std::string text = explain(report, report.rows[0]);
    const Results results = check_arithmetic(text);
    EXPECT_EQ(results.at("FLOPs counted"), row.flops.counted);
    EXPECT_THAT(text, HasSubstr(fmt::format("{} · 4 · 4 · 16", factor)));
    EXPECT_THAT(text, HasSubstr("causal-exact"));
  }
}

TEST(Explain, a_row_that_was_not_measured_has_no_time_and_its_reason) {
  const Report report = saved();
  const std::string text = explain(report, report.rows.at(6));
  EXPECT_THAT(text, HasSubstr("failed; o: 3.1 times the bound"));
  EXPECT_THAT(text, HasSubstr("error ratio"));
  for (const char* figure : {"TFLOPS", "speed-up", "% of"})
    EXPECT_THAT(text, Not(HasSubstr(figure)));
}

TEST(Explain, a_speed_up_over_a_row_that_is_not_there_is_only_told) {
  Report report = saved();
  report.rows = {report.rows.at(2)};
  EXPECT_THAT(explain(report, report.rows[0]), HasSubstr("over naive, whose time is not here"));
}

TEST(Explain, a_single_sample_has_no_interval) {
  Report report = saved();
  report.rows.at(2).time->n = 1;
  const std::string text = explain(report, report.rows[2]);
  EXPECT_THAT(text, HasSubstr("of a single sample, which has no interval"));
  for (const char* interval : {"± %", "\n  from", "\n  to"})
    EXPECT_THAT(text, Not(HasSubstr(interval)));
}

TEST(Explain, a_median_without_an_interval_is_called_so_and_so_is_its_speed_up) {
  Report report = saved();
  report.rows.at(2) = testing::without_interval(report.rows.at(2));
  const std::string text = explain(report, report.rows[2]);
  EXPECT_THAT(text, HasSubstr("the median of 3 samples, without an interval"));
  EXPECT_THAT(text, HasSubstr("not both have an interval, so this has none"));
  for (const char* interval : {"± %", "\n  from", "\n  to"})
    EXPECT_THAT(text, Not(HasSubstr(interval)));
}

TEST(Explain, a_row_of_a_merged_report_is_held_against_its_own_ceilings) {
  Report report = saved();
  Report other = saved();
  other.rows.clear();
  for (Ceiling& ceiling : other.ceilings) ceiling.rate *= 2;
  report.origins = {other, report};
  report.origins[1].rows.clear();
  report.ceilings.clear();
  for (Row& row : report.rows) row.origin = 1;
  EXPECT_THAT(explain(report, report.rows[2]), Not(HasSubstr("the row says")));
  report.rows[2].origin = 0;
  EXPECT_THAT(explain(report, report.rows[2]), HasSubstr("the row says"));
}

TEST(Explain, says_nothing_of_a_problem_that_a_foreign_report_does_not_give) {
  const Report report = parse_report(
      testing::in_report(R"("rows":[{"key":"A","impl":"x","time_ms":{"median":2}}])"), "r.json");
  const std::string text = explain(report, report.rows[0]);
  EXPECT_THAT(text, HasSubstr("2 ms; a median, without an interval"));
  for (const char* figure : {"FLOPs", "TFLOPS", "± %", "floor"})
    EXPECT_THAT(text, Not(HasSubstr(figure)));
}

}  // namespace
}  // namespace flashbench
