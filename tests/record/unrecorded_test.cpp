// What a report leaves out is null when it is written again, never a default.
#include "record/unrecorded.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "record/rows.hpp"

namespace flashbench {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

Json again(const std::string& text) {
  return Json::parse(report_text(parse_report(text, "r.json")));
}
Json row_again(const std::string& row) {
  return again(testing::in_report("\"rows\":[" + row + "]"))["rows"][0];
}

TEST(Unrecorded, paths_name_what_one_object_has_and_the_other_lacks) {
  const Json written =
      Json::parse(R"({"a":1,"b":{"c":2,"d":null},"e":[{"f":1,"g":2}],"h":[1,2],"i":[]})");
  EXPECT_THAT(paths_not_in(written, written), IsEmpty());
  EXPECT_THAT(paths_not_in(Json::parse(R"({"a":null,"b":{},"e":[{"f":1}]})"), written),
              ElementsAre("a", "b/c", "e/0/g", "h", "i"));
}

TEST(Unrecorded, is_taken_out_again) {
  Json json = Json::parse(R"({"a":1,"b":{"c":2},"e":[{"f":1,"g":2}]})");
  take_out(json, {"a", "b/c", "e/0/g", "no/such/path"});
  EXPECT_EQ(json, Json::parse(R"({"a":null,"b":{"c":null},"e":[{"f":1,"g":null}]})"));
}

TEST(Unrecorded, is_nothing_of_a_report_of_our_own) {
  Row row = testing::row("v2", 1);
  row.cost = Cost{{{"forward", Pipe::mma, 1e12, 1e9, {{{"q", 1}}, {{"o", 3}}}}}, 4096, {"lse"}};
  const Report back = parse_report(report_text(testing::report({row})), "r.json");
  EXPECT_THAT(back.rows[0].unrecorded, IsEmpty());
  EXPECT_THAT(back.unrecorded, IsEmpty());
}

TEST(Unrecorded, stays_null_in_a_row) {
  const Json row = row_again(R"({"key":"A","time_ms":{"median":2},"cost":{"kernels":[{}]}})");
  EXPECT_EQ(row["key"], "A");
  EXPECT_EQ(row["status"], "ok");
  EXPECT_EQ(row["time_ms"]["median"], 2);
  for (const char* field : {"impl", "pass", "source", "backend", "cache", "init", "throttled"})
    EXPECT_TRUE(row[field].is_null()) << field;
  for (const char* object : {"problem", "flops", "memory"})
    for (const auto& [field, value] : row[object].items())
      EXPECT_TRUE(value.is_null()) << object << "/" << field;
  for (const char* field : {"low", "high", "min", "p05", "p95", "mean", "stddev", "n", "samples"})
    EXPECT_TRUE(row["time_ms"][field].is_null()) << field;
  EXPECT_TRUE(row["cost"]["kernels"][0]["flops"].is_null());
  EXPECT_TRUE(row["traffic"]["model"].is_null()) << "no kernel says what it moves";
}

TEST(Unrecorded, stays_null_at_the_top) {
  const Json report = again(testing::in_report(R"("rows":[])"));
  EXPECT_TRUE(report["complete"].is_null());
  EXPECT_TRUE(report["argv"].is_null());
  EXPECT_TRUE(report["device"]["backend"].is_null());
  EXPECT_TRUE(report["measurement"]["seed"].is_null());
  EXPECT_TRUE(report["measurement"]["cache"].is_null());
  EXPECT_EQ(report["schema"], "flashbench.report/1");
}

TEST(Unrecorded, is_the_same_after_a_second_reading) {
  const std::string text =
      testing::in_report(R"("rows":[{"impl":"x","time_us":{"median":1500}},{"key":"B"}])");
  const std::string once = report_text(parse_report(text, "r.json"));
  EXPECT_EQ(report_text(parse_report(once, "r.json")), once);
}

TEST(Unrecorded, is_nothing_that_follows_from_what_is_recorded) {
  const Json row = row_again(R"({"impl":"x","time_us":{"median":1500,"low":1400},"init":"zeros",
    "flags":["throttled"],
    "cost":{"kernels":[{"traffic":{"read":{"q":2},"written":{"o":3}}}]}})");
  EXPECT_EQ(row["time_ms"]["median"], 1.5);
  EXPECT_DOUBLE_EQ(row["time_ms"]["low"].get<double>(), 1.4);
  EXPECT_TRUE(row["time_ms"]["high"].is_null());
  EXPECT_EQ(row["problem"]["init"], "zeros");
  EXPECT_EQ(row["throttled"], true);
  EXPECT_EQ(row["traffic"]["model"]["total_bytes"], 5);
  EXPECT_TRUE(row["key"].is_null()) << "most of what makes one is not known";
}

TEST(Unrecorded, leaves_rows_a_key_to_be_paired_by) {
  const Report report =
      parse_report(testing::in_report(R"("rows":[{"impl":"x"},{"impl":"x","key":"A"}])"), "r");
  EXPECT_EQ(identity(report.rows[0]), key(report.rows[0].what));
  EXPECT_EQ(identity(report.rows[1]), "A");
  EXPECT_THAT(report.rows[0].unrecorded, Contains("key"));
  EXPECT_THAT(report.rows[1].unrecorded, Not(Contains("key")));
}

}  // namespace
}  // namespace flashbench
