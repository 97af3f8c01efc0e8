// What is written, and that it survives odd names, odd places, pipes and narrow windows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "support/places.hpp"
#include "support/run_program.hpp"
#include "support/temporary_folder.hpp"
#include "support/text.hpp"

namespace flashbench::test {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

const std::string faults = in_bin("flashbench-faults-cpu.so");
const Arguments small{"run", "--device", "cpu", "--seq", "64,128", "--time-budget", "0.05"};

Arguments small_and(const Arguments& more) {
  Arguments all = small;
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

// Cells of a Markdown row: pipes that are not escaped, less one.
long cells(const std::string& line) {
  long pipes = 0;
  for (std::size_t i = 0; i < line.size(); ++i)
    if (line[i] == '|' && (i == 0 || line[i - 1] != '\\')) ++pipes;
  return pipes - 1;
}

// The first word of a line, past spaces and rules.
std::string first_word(const std::string& line) {
  const auto is_part = [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '/'; };
  const auto begin = std::find_if(line.begin(), line.end(), is_part);
  return {begin, std::find_if_not(begin, line.end(), is_part)};
}

// Rows of v2 and of a copy of it with one NaN in O, at a head dimension that there is and one that
// there is not: one ok, one failed, two unsupported.
Arguments ok_failed_and_unsupported(const Arguments& more) {
  Arguments all{"run",    "--seq",      "128",        "--dtype", "fp16",
                "--impl", "v2,one-nan", "--head-dim", "63,64",   "--time-budget",
                "0.05",   "--plugin",   faults};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

void expect_no_figures(const nlohmann::json& row) {
  EXPECT_TRUE(row.at("time_ms").is_null());
  EXPECT_TRUE(row.at("tflops").is_null());
  EXPECT_TRUE(row.at("speedup").is_null());
  ASSERT_TRUE(row.at("reason").is_string());
  EXPECT_NE(row.at("reason"), "");
}

TEST(Reports, JsonIsStrictAndMissingFiguresAreNull) {
  const Outcome run =
      flashbench_says(ok_failed_and_unsupported({"--device", "cpu", "--json", "-"}));
  EXPECT_EQ(run.exit_code, 1) << run.err;
  const auto report = strict_json(run.out);
  std::map<std::string, int> found;
  for (const auto& row : report.at("rows")) {
    ++found[row.at("status")];
    if (row.at("status") == "ok")
      EXPECT_TRUE(row.at("time_ms").at("median").is_number());
    else
      expect_no_figures(row);
  }
  EXPECT_EQ(found, (std::map<std::string, int>{{"ok", 1}, {"failed", 1}, {"unsupported", 2}}));
}

TEST(Reports, MissingFiguresAreEmptyInCsvAndNotAvailableInTheTables) {
  const TemporaryFolder folder;
  const Outcome run = flashbench_says(ok_failed_and_unsupported(
      {"--device", "cpu", "--csv", folder / "r.csv", "--md", folder / "r.md"}));
  EXPECT_EQ(run.exit_code, 1) << run.err;
  const auto records = parse_csv(read_file(folder / "r.csv"));
  ASSERT_EQ(records.size(), 5u) << "a heading and four rows";
  const auto cell = [&](const std::vector<std::string>& record, const std::string& heading) {
    const auto at = std::find(records[0].begin(), records[0].end(), heading);
    return at == records[0].end() ? "no column" : record.at(at - records[0].begin());
  };
  for (std::size_t i = 1; i < records.size(); ++i) {
    EXPECT_THAT(cell(records[i], "status"), AnyOf("ok", "failed", "unsupported"));
    for (const char* figure : {"time_ms_median", "tflops"})
      EXPECT_EQ(cell(records[i], figure).empty(), cell(records[i], "status") != "ok") << figure;
  }
  for (const std::string& text : {run.out, read_file(folder / "r.md")}) {
    int rows = 0;
    for (const std::string& line : lines_of(text)) {
      if (first_word(line) != "v2" || !contains(line, " unsupported ")) continue;
      ++rows;
      EXPECT_THAT(line, HasSubstr(" n/a "));
    }
    EXPECT_EQ(rows, 1) << text;
  }
}

TEST(Reports, JsonOnStandardOutputIsExactlyOneDocumentWhateverIsWarnedOf) {
  const Environment no_gpu{{"CUDA_VISIBLE_DEVICES", ""}};
  const Outcome failing =
      flashbench_says(ok_failed_and_unsupported({"--device", "auto", "--json", "-"}), no_gpu);
  const Outcome too_large = flashbench_says({"run", "--device", "auto", "--impl", "naive", "--seq",
                                             "64,1m", "--time-budget", "0.05", "--json", "-"},
                                            no_gpu);
  for (const Outcome* run : {&failing, &too_large}) {
    EXPECT_THAT(run->err, HasSubstr("measuring on the CPU")) << "a warning, and not on stdout";
    EXPECT_NO_THROW(strict_json(run->out));
    EXPECT_THAT(run->out + run->err, Not(HasSubstr("\x1b"))) << "no escape codes but on a terminal";
  }
  const auto rows = strict_json(too_large.out).at("rows");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1].at("status"), "oom");
  expect_no_figures(rows[1]);
}

TEST(Reports, AMissingFolderIsMade) {
  const TemporaryFolder folder;
  const std::string path = folder / "no/such/dir/r.json";
  const Outcome run = flashbench_says(small_and({"--impl", "v2", "--json", path}));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NO_THROW(strict_json(read_file(path)));
}

TEST(Reports, APathThatCannotBeWrittenIsExitTwoBeforeAnyWork) {
  const TemporaryFolder folder;
  folder.write("file", "");
  for (const std::string& path : {folder / "file/r.json", folder.path().string()}) {
    for (const char* option : {"--json", "--csv", "--md"}) {
      const Outcome run = flashbench_says({"run", "--device", "cpu", option, path});
      EXPECT_EQ(run.exit_code, 2) << option;
      EXPECT_LT(run.seconds, 1) << option;
      EXPECT_THAT(run.err, HasSubstr(path)) << option;
      EXPECT_EQ(run.out, "") << option;
    }
  }
}

TEST(Reports, SayHowInputsWereMadeAndZerosAreNotComparable) {
  const TemporaryFolder folder;
  for (const std::string init : {"normal", "zeros"}) {
    const Outcome run = flashbench_says(small_and(
        {"--impl", "v2", "--init", init, "--seed", "7", "--json", folder / (init + ".json")}));
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr(init));
    const auto report = strict_json(read_file(folder / (init + ".json")));
    EXPECT_EQ(report.at("measurement").at("seed"), 7);
    for (const auto& row : report.at("rows")) EXPECT_EQ(row.at("init"), init);
  }
  const Outcome compared =
      flashbench_says({"compare", folder / "normal.json", folder / "zeros.json"});
  EXPECT_EQ(compared.exit_code, 6) << compared.out;
  EXPECT_THAT(compared.out + compared.err, HasSubstr("zeros"));
}

TEST(Reports, AnOddLabelSurvivesCsvAndJson) {
  const TemporaryFolder folder;
  const std::string label = "a,\"b\"\nc";
  const Outcome run = flashbench_says(
      small_and({"--label", label, "--csv", folder / "r.csv", "--json", folder / "r.json"}));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto records = parse_csv(read_file(folder / "r.csv"));
  ASSERT_EQ(records.size(), 7u) << "a heading and six rows";
  for (const auto& record : records) EXPECT_EQ(record.size(), records[0].size());
  EXPECT_EQ(std::count(records[1].begin(), records[1].end(), label), 1);
  const auto report = strict_json(read_file(folder / "r.json"));
  EXPECT_THAT(report.dump(), HasSubstr(nlohmann::json(label).dump()));
}

TEST(Reports, CsvKeepsNineDigitsOfATime) {
  const TemporaryFolder folder;
  const Outcome run = flashbench_says(
      small_and({"--impl", "v2", "--csv", folder / "r.csv", "--json", folder / "r.json"}));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto report = strict_json(read_file(folder / "r.json"));
  const double median = report.at("rows")[0].at("time_ms").at("median");
  const auto records = parse_csv(read_file(folder / "r.csv"));
  ASSERT_GE(records.size(), 2u);
  const bool found =
      std::any_of(records[1].begin(), records[1].end(), [&](const std::string& field) {
        char* end = nullptr;
        const double value = std::strtod(field.c_str(), &end);
        return end != field.c_str() && std::abs(value - median) <= 1e-9 * median;
      });
  EXPECT_TRUE(found) << median;
}

TEST(Reports, MarkdownEscapesPipesAndKeepsItsCells) {
  const TemporaryFolder folder;
  const Outcome run =
      flashbench_says(small_and({"--label", "a|b \u00b5s \u6ce8\u610f", "--md", folder / "r.md"}));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  std::vector<std::string> table;
  for (const std::string& line : lines_of(read_file(folder / "r.md")))
    if (line.starts_with("|")) table.push_back(line);
  ASSERT_GE(table.size(), 8u) << "a heading, its rule and six rows";
  for (const std::string& line : table) EXPECT_EQ(cells(line), cells(table[0])) << line;
}

TEST(Reports, ARowIsOneLineHoweverNarrowTheWindow) {
  const TemporaryFolder folder;
  const Outcome narrow =
      flashbench_says(small_and({"--json", folder / "r.json"}), {{"COLUMNS", "40"}});
  ASSERT_EQ(narrow.exit_code, 0) << narrow.err;
  const Outcome wide = flashbench_says({"report", folder / "r.json"}, {{"COLUMNS", "200"}});
  EXPECT_EQ(narrow.out, wide.out);
  for (const char* name : {"naive", "v1", "v2"}) {
    long rows = 0;
    for (const std::string& line : lines_of(narrow.out))  // notes have no columns
      rows += first_word(line) == name && contains(line, "  ") ? 1 : 0;
    EXPECT_EQ(rows, 2) << name << "\n" << narrow.out;
  }
}

}  // namespace
}  // namespace flashbench::test
