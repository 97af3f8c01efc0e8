#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "plan/request.hpp"
#include "record/json.hpp"
#include "record/rows.hpp"
#include "report/formats.hpp"
#include "report/golden.hpp"
#include "report/report.hpp"
#include "report/text.hpp"

namespace flashbench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const char* const awkward = "a|b µs 注意, \"q\"\nend";

Report saved() {
  const std::string path = testing::corpus("report.json");
  return parse_report(testing::content(path), path);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// Records of RFC 4180.
std::vector<std::vector<std::string>> records_of(const std::string& text) {
  std::vector<std::vector<std::string>> records{{""}};
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string& field = records.back().back();
    if (quoted && text[i] == '"' && text[i + 1] == '"') {
      field += text[++i];
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (!quoted && text[i] == ',') {
      records.back().push_back("");
    } else if (!quoted && text.compare(i, 2, "\r\n") == 0) {
      records.push_back({""});
      ++i;
    } else {
      field += text[i];
    }
  }
  records.pop_back();
  return records;
}

TEST(Golden, table) {
  testing::expect_golden("report.table.txt", render_table(saved(), {}));
}
TEST(Golden, wide_table) {
  testing::expect_golden("report.wide.txt", render_table(saved(), {false, true, ""}));
}
TEST(Golden, pivot) {
  testing::expect_golden("report.pivot.txt", render_table(saved(), {false, false, "seq"}));
}
TEST(Golden, markdown) {
  testing::expect_golden("report.md", render_markdown(saved(), {}));
}
TEST(Golden, csv) {
  testing::expect_golden("report.csv", render_csv(saved()));
}
TEST(Golden, junit) {
  testing::expect_golden("report.junit.xml", render_junit(saved()));
}

Report awkward_report() {
  Row bad = testing::row("v1", 0.5);
  bad.status = Status::failed;
  bad.reason = "o is wrong\nin two lines | and a pipe";
  Report report = testing::report({testing::row("v2", 0.00123456789), bad});
  report.label = awkward;
  return report;
}

TEST(Csv, keeps_commas_quotes_and_newlines_in_one_record) {
  const auto records = records_of(render_csv(awkward_report()));
  ASSERT_EQ(records.size(), 3u);
  for (const auto& record : records) EXPECT_EQ(record.size(), records[0].size());
  const auto column = [&](const char* heading) {
    return std::find(records[0].begin(), records[0].end(), heading) - records[0].begin();
  };
  EXPECT_EQ(records[1][column("label")], awkward);
  EXPECT_EQ(std::stod(records[1][column("time_ms_median")]), 0.00123456789);
  EXPECT_EQ(records[2][column("time_ms_median")], "");
  EXPECT_EQ(records[2][column("tflops")], "");
  EXPECT_EQ(records[2][column("status")], "failed");
}

TEST(Markdown, escapes_pipes_and_aligns_by_display_width) {
  std::vector<std::size_t> widths, cells;
  for (const std::string& line : lines_of(render_markdown(awkward_report(), {}))) {
    if (line.empty() || line[0] != '|') continue;
    widths.push_back(display_width(line));
    std::size_t pipes = 0;
    for (std::size_t i = 0; i < line.size(); ++i)
      pipes += line[i] == '|' && (i == 0 || line[i - 1] != '\\');
    cells.push_back(pipes);
  }
  ASSERT_EQ(widths.size(), 4u);
  EXPECT_EQ(std::count(widths.begin(), widths.end(), widths[0]), 4);
  EXPECT_EQ(std::count(cells.begin(), cells.end(), cells[0]), 4);
}

TEST(Table, gives_a_row_one_line_and_a_failed_row_no_time) {
  const std::string text = render_table(awkward_report(), {});
  int rows = 0;
  for (const std::string& line : lines_of(text)) {
    if (line.find("b µs") == std::string::npos) continue;
    ++rows;
    if (line.find("failed") != std::string::npos) {
      EXPECT_THAT(line, HasSubstr("n/a"));
      EXPECT_THAT(line, Not(HasSubstr("0.5")));
    }
  }
  EXPECT_EQ(rows, 2);
  EXPECT_THAT(text, HasSubstr(": failed: o is wrong in two lines | and a pipe\n"));
}

TEST(Table, has_colour_only_when_asked) {
  EXPECT_THAT(render_table(awkward_report(), {}), Not(HasSubstr("\x1b")));
  EXPECT_THAT(render_table(awkward_report(), {true, false, ""}), HasSubstr("\x1b[31m"));
}

TEST(Table, explains_flags_labels_zeros_and_says_when_it_is_incomplete) {
  Row row = testing::row("v2", 1);
  row.flags = {"throttled", "drift"};
  row.drift = 0.15;
  row.what.problem.init = Init::zeros;
  Report report = testing::report({row});
  report.complete = false;
  const std::string text = render_table(report, {});
  EXPECT_THAT(text, HasSubstr("throttled: "));
  EXPECT_THAT(text, HasSubstr("+15.0 %"));
  EXPECT_THAT(text, HasSubstr("init zeros"));
  EXPECT_THAT(text, HasSubstr("incomplete"));
}

TEST(Table, leaves_out_columns_that_say_nothing_of_any_row_and_csv_keeps_them) {
  const Report bare = testing::report({testing::row("v1", 2, 0.01), testing::row("v2", 1, 0.01)});
  const std::string text = render_table(bare, {}) + render_markdown(bare, {});
  for (const char* heading : {"% of peak", "% of ceiling", "binds", "speed-up", "check", "extra"})
    EXPECT_THAT(text, Not(HasSubstr(heading)));
  for (const char* heading : {"implementation", "time ms", "TFLOPS", "status"})
    EXPECT_THAT(text, HasSubstr(heading));
  EXPECT_THAT(render_csv(bare), HasSubstr("utilization_peak"));
}

TEST(Formats, give_what_their_renderers_give) {
  const Report report = saved();
  std::map<std::string, std::string> texts;
  for (const Format& format : formats()) texts[format.name] = format.render(report, {});
  EXPECT_EQ(texts, (std::map<std::string, std::string>{{"json", report_text(report)},
                                                       {"csv", render_csv(report)},
                                                       {"md", render_markdown(report, {})},
                                                       {"junit", render_junit(report)}}));
}

TEST(Table, of_no_rows_is_a_heading) {
  EXPECT_THAT(render_table(testing::report({}), {}), HasSubstr("time ms"));
  EXPECT_NO_THROW(render_markdown(Report{}, {}));
  EXPECT_NO_THROW(render_junit(Report{}));
}

TEST(Table, shows_a_scale_that_is_not_the_usual_one) {
  Row row = testing::row("v2", 1);
  EXPECT_THAT(render_table(testing::report({row}), {}), Not(HasSubstr("scale")));
  row.what.problem.scale = -0.125;
  EXPECT_THAT(render_table(testing::report({row}), {}), HasSubstr("-0.125"));
}

TEST(Pivot, on_implementations_sets_them_side_by_side) {
  const std::string text = render_table(saved(), {false, false, "impl"});
  EXPECT_THAT(text, HasSubstr("batch   seq  naive     v1     v2   v3\n"
                              "   16  1024  24.96  53.56  219.6  n/a\n"
                              "    8  2048  24.99  23.28    n/a  n/a\n"));
}

TEST(Table, says_where_repeated_runs_differ) {
  Row row = testing::row("v2", 1);
  row.what.pass = Pass::bwd;
  row.deterministic = false;
  EXPECT_THAT(render_table(testing::report({row}), {}), HasSubstr("v2: deterministic: false"));
}

TEST(Pivot, on_what_is_no_axis_names_the_axes) {
  EXPECT_THROW(render_table(testing::report({}), {false, false, "sqe"}), UsageError);
}

TEST(Width, of_text_is_what_a_terminal_gives_it) {
  EXPECT_EQ(display_width("µs"), 2u);
  EXPECT_EQ(display_width("注意"), 4u);
  EXPECT_EQ(display_width("e\u0301"), 1u);
  EXPECT_EQ(display_width("\xff\xfe"), 2u);
  EXPECT_EQ(display_width(""), 0u);
}

TEST(JUnit, escapes_what_xml_gives_a_meaning) {
  Row row = testing::row("v<2>", 1);
  row.status = Status::failed;
  row.reason = "a < b & \"c\"\x01";
  EXPECT_THAT(render_junit(testing::report({row})), HasSubstr("a &lt; b &amp; &quot;c&quot; "));
}

}  // namespace
}  // namespace flashbench
