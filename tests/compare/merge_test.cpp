// Several reports as one: whose row counts, and what a merged report still knows of each.
#include "compare/merge.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "record/json.hpp"
#include "record/rows.hpp"

namespace flashbench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::report;
using testing::row;

TEST(Merge, of_one_report_is_that_report) {
  const Report one = report({row("v1", 2), row("v2", 1)});
  EXPECT_EQ(report_text(merge({{"a.json", one}}).report), report_text(one));
}

TEST(Merge, puts_rows_one_after_the_other_with_their_origins) {
  Report a = report({row("v1", 2)}), b = report({row("v2", 1)});
  a.label = "monday";
  b.label = "tuesday";
  a.ceilings = {{"mma", 1e14, 9}};
  b.ceilings = {{"mma", 2e14, 9}};
  const Merged merged = merge({{"a.json", a}, {"b.json", b}});
  ASSERT_EQ(merged.report.rows.size(), 2u);
  const auto& [first, second] = std::tie(merged.report.rows[0], merged.report.rows[1]);
  EXPECT_EQ(first.what.impl, "v1");
  EXPECT_EQ(first.label, "monday");
  EXPECT_EQ(origin_of(merged.report, first).ceilings[0].rate, 1e14);
  EXPECT_EQ(origin_of(merged.report, second).ceilings[0].rate, 2e14);
  EXPECT_EQ(merged.report.device.name, "NVIDIA H200");
  EXPECT_THAT(merged.report.ceilings, IsEmpty()) << "the two differ";
  EXPECT_THAT(merged.differing, IsEmpty());
  EXPECT_THAT(merged.notices, IsEmpty());
}

TEST(Merge, takes_the_later_files_row_and_says_so) {
  const Merged merged = merge({{"a.json", report({row("v1", 2), row("v2", 1)})},
                               {"b.json", report({row("v1", 3), row("v3", 4)})},
                               {"c.json", report({row("v1", 5)})}});
  std::vector<double> times;
  for (const Row& each : merged.report.rows) times.push_back(each.time->median);
  EXPECT_THAT(times, ElementsAre(5, 1, 4));
  EXPECT_THAT(merged.notices,
              ElementsAre("b.json: 1 of its rows stand in a.json too; those of b.json are shown",
                          "c.json: 1 of its rows stand in b.json too; those of c.json are shown"));
}

TEST(Merge, keeps_what_was_measured_where_the_later_file_did_not_run_it) {
  Row left = row("v1", 3);
  left.status = Status::not_run;
  const Merged merged = merge({{"a.json", report({row("v1", 2)})}, {"b.json", report({left})}});
  ASSERT_EQ(merged.report.rows.size(), 1u);
  EXPECT_EQ(merged.report.rows[0].time->median, 2);
}

TEST(Merge, of_two_devices_is_a_report_that_holds_a_key_twice_and_can_be_read) {
  const Merged merged = merge({{"a.json", report({row("v2", 1)}, "NVIDIA H200")},
                               {"b.json", report({row("v2", 2)}, "NVIDIA H100 PCIe")}});
  Report read = parse_report(report_text(merged.report), "ab.json");
  EXPECT_EQ(report_text(read), report_text(merged.report));
  read.rows.push_back(read.rows[0]);
  EXPECT_THROW(parse_report(report_text(read), "ab.json"), ProtocolError) << "twice of one origin";
}

TEST(Merge, names_what_makes_devices_different_and_keeps_the_rows_of_both) {
  const Merged merged = merge({{"a.json", report({row("v2", 1)}, "NVIDIA H200")},
                               {"b.json", report({row("v2", 2)}, "NVIDIA H100 PCIe")}});
  EXPECT_THAT(merged.differing,
              ElementsAre("b.json: device.name: NVIDIA H200 against NVIDIA H100 PCIe"));
  ASSERT_EQ(merged.report.rows.size(), 2u);
  EXPECT_EQ(merged.report.device.name, "") << "no device is all rows'";
  EXPECT_EQ(origin_of(merged.report, merged.report.rows[1]).device.name, "NVIDIA H100 PCIe");
}

TEST(Merge, says_lesser_differences_and_is_incomplete_where_one_is) {
  Report a = report({row("v1", 2)}), b = report({row("v2", 1)});
  b.device.driver = "580";
  a.device.driver = "570";
  b.measurement.seed = 7;
  b.complete = false;
  const Merged merged = merge({{"a.json", a}, {"b.json", b}});
  EXPECT_THAT(merged.notices, ElementsAre("b.json: device.driver: 570 against 580",
                                          "b.json: measurement.seed: 1 against 7"));
  EXPECT_FALSE(merged.report.complete);
  EXPECT_TRUE(Json::parse(report_text(merged.report))["measurement"]["seed"].is_null());
}

TEST(Merge, of_a_merged_report_knows_every_origin) {
  Report a = report({row("v1", 2)}), b = report({row("v2", 1)}), c = report({row("v3", 4)});
  a.tool_commit = "aaa";
  b.tool_commit = "bbb";
  c.tool_commit = "ccc";
  const std::string text = report_text(merge({{"a.json", a}, {"b.json", b}}).report);
  const Merged merged = merge({{"ab.json", parse_report(text, "ab.json")}, {"c.json", c}});
  std::vector<std::string> commits;
  for (const Row& each : merged.report.rows)
    commits.push_back(origin_of(merged.report, each).tool_commit);
  EXPECT_THAT(commits, ElementsAre("aaa", "bbb", "ccc"));
  EXPECT_EQ(report_text(parse_report(report_text(merged.report), "abc.json")),
            report_text(merged.report));
}

TEST(Merge, an_origin_that_is_not_there_is_named) {
  try {
    parse_report(testing::in_report(R"("rows":[{"key":"A","origin":3}])"), "r.json");
    FAIL();
  } catch (const ProtocolError& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("r.json: rows[0]: \"origin\" is 3, and there are 0 origins"));
  }
}

}  // namespace
}  // namespace flashbench
