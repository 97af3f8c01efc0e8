// What is written, and that it survives odd names, odd places, pipes and narrow windows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "support/run_program.hpp"
#include "support/temporary_folder.hpp"
#include "support/text.hpp"

namespace flashbench::test {
namespace {

using testing::HasSubstr;
using testing::Not;

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

TEST(Reports, JsonIsStrictAndMissingFiguresAreNull) {
  const Outcome run = flashbench_says(small_and({"--pass", "fwd,bwd", "--json", "-"}));
  const auto report = strict_json(run.out);
  ASSERT_EQ(report.at("rows").size(), 12u);
  for (const auto& row : report.at("rows")) {
    if (row.at("status") == "ok") {
      EXPECT_TRUE(row.at("time_ms").at("median").is_number());
    } else {
      EXPECT_TRUE(row.at("time_ms").is_null());
      EXPECT_TRUE(row.at("tflops").is_null());
      ASSERT_TRUE(row.at("reason").is_string());
      EXPECT_NE(row.at("reason"), "");
    }
  }
}

TEST(Reports, JsonOnStandardOutputIsExactlyOneDocument) {
  const Outcome run = flashbench_says(small_and({"--json", "-", "--pass", "fwd,bwd"}),
                                      {{"CUDA_VISIBLE_DEVICES", ""}});
  EXPECT_NO_THROW(strict_json(run.out));
  EXPECT_THAT(run.out + run.err, Not(HasSubstr("\x1b"))) << "no escape codes but on a terminal";
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
