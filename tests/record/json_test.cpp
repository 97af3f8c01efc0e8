#include "record/json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "record/rows.hpp"

namespace flashbench {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const double nan = std::numeric_limits<double>::quiet_NaN();
const double infinity = std::numeric_limits<double>::infinity();

Row full_row() {
  Row row = testing::row("v2", 1.00123456789, 0.01);
  row.what.source = "plugin:x";
  row.what.cache = Cache::warm;
  row.utilization = {0.5, 0.75, "mma", 0.8};
  KernelCost kernel{"forward", Pipe::mma, 1e12, 1e9, {{{"q", 1}, {"k", 2}}, {{"o", 3}}}};
  row.cost = Cost{{kernel}, 4096, {"lse"}};
  row.counts = Counts{{{{"q", 1}}, {{"o", 1}}}, 1, 2, 3, 4, 5, 6};
  row.memory = {1, 2, 3, 4, 5, std::nullopt};
  row.launches = {{"forward", 128, 0, 256, 98304, 512, 2, 1.9}};
  row.numerics = {
      {"o", 1e-4, 1e-5, 0.4, std::array<std::int64_t, 4>{1, 2, 3, 4}, 64, 128, Verdict::pass, ""}};
  row.speedup = {"naive", 3.2, 3.1, 3.3};
  row.clock_mhz = 827;
  row.flags = {"throttled", "drift"};
  row.drift = 0.15;
  row.deterministic = false;
  row.shared_rounds_with = {"a", "b"};
  row.inputs_checksum = {"1-2-3", "4-5-6"};
  row.command = "flashbench --impl v2";
  row.label = "a,\"b\"\n";
  row.measured = {{"dram__bytes_read", 12.0}, {"refused", std::nullopt}};
  row.uncounted = "forbidden: ask";
  return row;
}

Json strict(const std::string& text) {
  return Json::parse(text);
}

TEST(Json, NestedWithoutEndIsRefusedAndNoCrash) {
  const std::string deep =
      "{\"rows\": " + std::string(200000, '[') + std::string(200000, ']') + "}";
  try {
    parse_report(deep, "deep.json");
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("deep.json"));
  }
}

TEST(ReportJson, reads_back_what_it_wrote) {
  Report report = testing::report({full_row(), testing::row("naive", 3)});
  report.ceilings = {{"mma", 6e14, 12}, {"copy", 4e12, 9}};
  report.argv = {"flashbench", "--impl", "v2"};
  report.measurement.seed = std::numeric_limits<std::uint64_t>::max();
  report.measurement.precision = 0.005;
  report.device.multiprocessors = 132;
  const std::string text = report_text(report);
  EXPECT_EQ(report_text(parse_report(text, "r.json")), text);
  EXPECT_EQ(parse_report(text, "r.json").measurement.seed, report.measurement.seed);
  EXPECT_EQ(parse_report(text, "r.json").rows[0].what, report.rows[0].what);
  EXPECT_EQ(parse_report(text, "r.json").rows[0].inputs_checksum, report.rows[0].inputs_checksum);
  EXPECT_EQ(text.back(), '\n');
}

TEST(ReportJson, has_the_fields_of_the_schema) {
  Report report = testing::report({full_row()});
  const Json json = strict(report_text(report));
  EXPECT_EQ(json["schema"], "flashbench.report/1");
  for (const char* field :
       {"complete", "tool", "argv", "started", "host", "device", "ceilings", "measurement", "rows"})
    EXPECT_TRUE(json.contains(field)) << field;
  const Json& row = json["rows"][0];
  for (const char* field :
       {"key",       "problem",     "impl",  "pass",           "status",  "reason",   "time_ms",
        "tflops",    "utilization", "flops", "traffic",        "memory",  "numerics", "speedup",
        "clock_mhz", "throttled",   "drift", "deterministic",  "command", "source",   "backend",
        "cache",     "init",        "label", "inputs_checksum"})
    EXPECT_TRUE(row.contains(field)) << field;
  EXPECT_EQ(row["key"], key(full_row().what));
  EXPECT_EQ(row["throttled"], true);
  EXPECT_EQ(row["numerics"]["o"]["verdict"], "pass");
  EXPECT_EQ(row["traffic"]["model"]["total_bytes"], 6.0);
  EXPECT_EQ(row["flops"]["convention"], "full");
}

TEST(ReportJson, puts_the_label_of_the_report_on_each_row) {
  Report report = testing::report({testing::row("v2", 1)});
  report.label = "night";
  EXPECT_EQ(strict(report_text(report))["rows"][0]["label"], "night");
}

TEST(ReportJson, has_null_for_what_is_missing_or_not_finite) {
  Row ok = testing::row("v2", 1), failed = testing::row("v1", 0.001), none;
  ok.tflops = infinity;
  ok.time->stddev = nan;
  failed.status = Status::failed;
  failed.reason = "o: NaN";
  failed.speedup = {"naive", 1000, 999, 1001};
  failed.numerics = {{"o", nan, infinity, nan, std::nullopt, 64, 64, Verdict::fail, "NaN"}};
  none.what.impl = "v3";
  none.status = Status::unsupported;
  const std::string text = report_text(testing::report({ok, failed, none}));
  const Json rows = strict(text)["rows"];
  EXPECT_TRUE(rows[0]["tflops"].is_null());
  EXPECT_TRUE(rows[0]["time_ms"]["stddev"].is_null());
  for (const int i : {1, 2}) {
    for (const char* field : {"time_ms", "tflops", "speedup"})
      EXPECT_TRUE(rows[i][field].is_null()) << i << field;
    EXPECT_TRUE(rows[i]["utilization"]["peak"].is_null());
  }
  EXPECT_TRUE(rows[1]["numerics"]["o"]["max_abs"].is_null());
  EXPECT_EQ(rows[1]["status"], "failed");
  EXPECT_EQ(rows[2]["status"], "unsupported");
  for (const char* token : {"nan", "NaN,", "inf,", "Infinity"})
    EXPECT_EQ(text.find(token), std::string::npos) << token;
}

TEST(ReportJson, keeps_nine_digits_of_a_time) {
  const Row row = testing::row("v2", 0.00123456789);
  const Report back = parse_report(report_text(testing::report({row})), "r");
  EXPECT_EQ(back.rows[0].time->median, 0.00123456789);
}

TEST(ReportJson, replaces_bytes_that_are_not_text) {
  Report report = testing::report({testing::row("v2", 1)});
  report.label = "\xff\xfe";
  EXPECT_NO_THROW(strict(report_text(report)));
}

TEST(ReportReader, ignores_unknown_keys_and_tolerates_absent_ones) {
  const Report report = parse_report(
      testing::in_report(
          R"("rows":[{"key":"A","what_is_this":1,"time_ms":{"median":2}},{"status":"oom"}],"new":{})"),
      "r");
  EXPECT_EQ(identity(report.rows[0]), "A");
  EXPECT_EQ(report.rows[0].status, Status::ok);
  EXPECT_FALSE(has_interval(*report.rows[0].time));
  EXPECT_FALSE(report.rows[1].time);
  EXPECT_FALSE(report.complete);
}

TEST(ReportReader, converts_times_of_other_units) {
  const Report report = parse_report(
      testing::in_report(R"("rows":[{"time_us":{"median":1500,"low":1400,"samples":[1500]}},
                  {"time_s":{"median":0.25}}])"),
      "r");
  EXPECT_DOUBLE_EQ(report.rows[0].time->median, 1.5);
  EXPECT_DOUBLE_EQ(*report.rows[0].time->low, 1.4);
  EXPECT_FALSE(report.rows[0].time->high);
  EXPECT_DOUBLE_EQ(report.rows[0].time->samples[0].ms, 1.5);
  EXPECT_DOUBLE_EQ(report.rows[1].time->median, 250);
}

std::string error_of(const std::string& text) {
  try {
    parse_report(text, "base.json");
  } catch (const ProtocolError& error) {
    return error.what();
  }
  return "";
}

TEST(ReportReader, says_what_is_wrong_and_in_which_file) {
  EXPECT_THAT(error_of("{"), StartsWith("base.json: not JSON: parse error at line 1, column 2"));
  EXPECT_THAT(error_of(testing::in_report(R"("rows":[{"tflops":NaN}])")), HasSubstr("not JSON"));
  EXPECT_THAT(error_of("[]"), HasSubstr("object"));
  EXPECT_THAT(error_of(R"({"schema":"flashbench.report/9","rows":[]})"),
              HasSubstr("flashbench.report/1"));
  EXPECT_THAT(error_of(testing::in_report(R"("rows":{})")), HasSubstr("list"));
  EXPECT_THAT(error_of(testing::in_report(R"("rows":[{},{"status":"great"}])")),
              HasSubstr("rows[1]"));
  EXPECT_THAT(error_of(testing::in_report(R"("rows":[{"problem":{"batch":"4"}}])")),
              HasSubstr("batch"));
  EXPECT_THAT(error_of(testing::in_report(R"("rows":[7])")), HasSubstr("rows[0]"));
}

TEST(ReportReader, refuses_what_does_not_say_that_it_is_a_report) {
  const std::string said = error_of(R"({"rows":[]})");
  EXPECT_THAT(said, HasSubstr("base.json"));
  EXPECT_THAT(said, HasSubstr("\"schema\" is missing"));
  EXPECT_THAT(said, HasSubstr("flashbench.report/1"));
  EXPECT_THAT(error_of(R"({"schema":null,"rows":[]})"), HasSubstr("is missing"));
  EXPECT_THAT(error_of(R"({"schema":1,"rows":[]})"), HasSubstr("a string"));
}

TEST(ReportReader, refuses_a_zero_byte_and_what_follows) {
  const std::string text = report_text(Report{});
  EXPECT_NO_THROW(parse_report(text, "r.json"));
  EXPECT_THROW(parse_report(text + std::string(1, '\0') + "[", "r.json"), ProtocolError);
}

TEST(ReportReader, refuses_a_key_that_stands_twice_in_its_object) {
  for (const auto& [text, path] :
       {std::pair{R"("rows":[],"rows":[])", "$.rows"},
        std::pair{R"("rows":[{},{"status":"ok","status":"oom"}])", "$.rows[1].status"},
        std::pair{R"("rows":[{"key":"A","key":"B"}])", "$.rows[0].key"},
        std::pair{R"("rows":[{"time_ms":{"median":1,"median":2}}])", "$.rows[0].time_ms.median"}}) {
    const std::string said = error_of(testing::in_report(text));
    EXPECT_THAT(said, HasSubstr("base.json"));
    EXPECT_THAT(said, HasSubstr(std::string("the key ") + path + " stands there twice"));
  }
}

TEST(ReportReader, refuses_two_rows_of_the_same_key) {
  const std::string said = error_of(report_text(
      testing::report({testing::row("v1", 1), testing::row("v2", 2), testing::row("v1", 3)})));
  EXPECT_THAT(said, HasSubstr("base.json"));
  EXPECT_THAT(said, HasSubstr("rows[0] and rows[2] have the same key \"v1/fwd/"));
  EXPECT_THAT(error_of(testing::in_report(R"("rows":[{"key":"A"},{"key":"A"}])")),
              HasSubstr("same key \"A\""));
  EXPECT_EQ(error_of(testing::in_report(R"("rows":[{"impl":"a"},{"impl":"a"}])")), "")
      << "neither says its key";
}

TEST(ReportJson, has_null_for_the_interval_of_few_samples) {
  Row row = testing::row("v2", 1);
  row.time = summarize({{1, 0}, {2, 1}, {3, 0}});
  const std::string text = report_text(testing::report({row}));
  const Json time = strict(text)["rows"][0]["time_ms"];
  EXPECT_EQ(time["median"], 2);
  EXPECT_TRUE(time["low"].is_null());
  EXPECT_TRUE(time["high"].is_null());
  EXPECT_EQ(report_text(parse_report(text, "r.json")), text);
}

TEST(Journal, is_one_line_a_row_and_reads_back) {
  const std::string line = row_line(full_row());
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(row_line(parse_row_line(line)), line);
  EXPECT_THROW(parse_row_line(line.substr(0, line.size() / 2)), ProtocolError);
}

}  // namespace
}  // namespace flashbench
