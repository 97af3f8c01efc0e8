// Reports of other tools say less than ours: what they leave out is shown as missing, and bytes
// that are no text break no format.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "record/json.hpp"
#include "record/rows.hpp"
#include "report/grid.hpp"
#include "report/report.hpp"
#include "report/text.hpp"
#include "support/temporary_folder.hpp"
#include "support/text.hpp"

namespace flashbench {
namespace {

using test::TemporaryFolder;
using ::testing::HasSubstr;
using ::testing::Not;

Report foreign() {
  return parse_report(testing::in_report(R"("rows":[
    {"key":"A","impl":"theirs","problem":{"seq_q":512},"time_ms":{"median":2}},
    {"impl":"ours","pass":"bwd","time_ms":{"median":3,"low":2.97,"high":3.03},
     "memory":{"workspace_bytes":1048576}}])"),
                      "r.json");
}

// The fields of one CSV record by their headings.
std::map<std::string, std::string> record(const Report& report, std::size_t row) {
  const auto records = test::parse_csv(render_csv(report));
  std::map<std::string, std::string> fields;
  for (std::size_t i = 0; i < records[0].size(); ++i) fields[records[0][i]] = records[row + 1][i];
  return fields;
}

TEST(Foreign, csv_has_empty_fields_for_what_is_not_said) {
  const auto first = record(foreign(), 0), second = record(foreign(), 1);
  EXPECT_EQ(first.at("key"), "A");
  EXPECT_EQ(first.at("impl"), "theirs");
  EXPECT_EQ(first.at("seq_q"), "512");
  EXPECT_EQ(first.at("time_ms_median"), "2");
  for (const char* field :
       {"pass",           "source",  "backend",       "cache",       "batch",        "heads",
        "kv_heads",       "seq_k",   "head_dim",      "dtype",       "mask",         "scale",
        "layout",         "init",    "seed",          "time_ms_low", "time_ms_high", "time_ms_min",
        "time_ms_stddev", "samples", "flops_counted", "flops_exact", "tflops"})
    EXPECT_EQ(first.at(field), "") << field;
  EXPECT_EQ(second.at("key"), "");
  EXPECT_EQ(second.at("time_ms_low"), "2.97");
  EXPECT_EQ(second.at("pass"), "bwd");
}

TEST(Foreign, table_shows_na_for_what_is_not_said) {
  const auto lines = test::lines_of(render_table(foreign(), {}));
  ASSERT_GE(lines.size(), 3u);
  EXPECT_THAT(lines[0], HasSubstr("implementation  pass  seq  time ms   ± %  status"))
      << "a column that says nothing of any row is left out";
  EXPECT_THAT(lines[1], HasSubstr("theirs          n/a   512    2.000   n/a  ok"));
  EXPECT_THAT(lines[2], HasSubstr("ours            bwd   n/a    3.000  1.00  ok"));
  EXPECT_THAT(lines[0], Not(HasSubstr("extra MiB"))) << "extra memory is not known wholly";
  for (const char* claim : {"all rows", "fp32", "incomplete"})
    EXPECT_THAT(render_table(foreign(), {}), Not(HasSubstr(claim)));
}

TEST(Foreign, pivot_on_what_is_not_said_is_one_column) {
  const std::string text = render_table(foreign(), {false, false, "seq"});
  EXPECT_THAT(text, HasSubstr("seq n/a"));
  EXPECT_THAT(text, HasSubstr("seq 512"));
}

TEST(Foreign, a_row_with_neither_status_nor_time_has_no_status) {
  const Report report =
      parse_report(testing::in_report(R"("rows":[{"key":"A","time_ms":{"median":null}}])"), "r");
  EXPECT_EQ(record(report, 0).at("status"), "");
  EXPECT_TRUE(Json::parse(report_text(report))["rows"][0]["status"].is_null());
  for (const std::string& text : {render_table(report, {}), render_junit(report)})
    EXPECT_THAT(text, Not(HasSubstr("not_run")));
}

TEST(Foreign, rows_without_an_implementation_go_by_their_keys) {
  const Report report = parse_report(
      testing::in_report(
          R"("rows":[{"key":"A","tflops":1,"status":"ok"},{"key":"B","tflops":2,"status":"ok"}])"),
      "r");
  for (const char* pivot : {"", "seq"}) {
    const std::string text = render_table(report, {false, false, pivot});
    EXPECT_THAT(text, HasSubstr("\nA "));
    EXPECT_THAT(text, HasSubstr("\nB "));
  }
}

TEST(Foreign, a_row_is_called_by_what_is_said_of_it) {
  EXPECT_EQ(shown_key(foreign().rows[0]), "A");
  EXPECT_EQ(shown_key(foreign().rows[1]), "impl=ours pass=bwd");
  EXPECT_EQ(shown_key(parse_report(testing::in_report(R"("rows":[{}])"), "r").rows[0]), "n/a");
}

TEST(Foreign, junit_has_no_time_for_a_row_without_one) {
  const Report report =
      parse_report(testing::in_report(R"("rows":[{"key":"A","status":"failed"}])"), "r.json");
  EXPECT_THAT(render_junit(report), Not(HasSubstr("time=\"")));
  EXPECT_THAT(render_junit(foreign()), HasSubstr("time=\"0.002\""));
}

TEST(Foreign, bytes_that_are_no_text_are_replaced_in_every_format) {
  const TemporaryFolder folder;
  const std::string file = folder.write(
      "r.json",
      testing::in_report("\"label\":\"a\xff\xc3(\xed\xa0\x80z\",\"rows\":[{\"impl\":\"v2\"}]"));
  const Report report = read_report(file);
  EXPECT_TRUE(is_utf8(report.label));
  EXPECT_EQ(report.label, "a\ufffd\ufffd(\ufffd\ufffd\ufffdz");
}

TEST(Text, that_is_not_utf8_is_told_and_replaced) {
  for (const char* good : {"", "abc", "\u00b5s", "\u6ce8", "\U0001f600", "\uffff"}) {
    EXPECT_TRUE(is_utf8(good)) << good;
    EXPECT_EQ(as_utf8(good), good);
  }
  for (const char* bad :
       {"\xff", "\xc0\x80", "\xe2\x82", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\x80"}) {
    EXPECT_FALSE(is_utf8(bad));
    EXPECT_TRUE(is_utf8(as_utf8(bad)));
    EXPECT_THAT(as_utf8(bad), HasSubstr("\ufffd"));
  }
}

TEST(Text, that_is_not_utf8_breaks_no_format) {
  Report report = foreign();
  report.label = "a\xff";
  report.rows[0].command = "flashbench --load \xfe";
  report.rows[0].reason = "\xfd \uffff";
  report.rows[0].status = Status::failed;
  for (const std::string& text : {render_csv(report), render_markdown(report, {}),
                                  render_table(report, {}), render_junit(report)})
    EXPECT_TRUE(is_utf8(text)) << text;
  EXPECT_THAT(render_junit(report), Not(HasSubstr("\uffff"))) << "XML cannot hold it";
}

}  // namespace
}  // namespace flashbench
