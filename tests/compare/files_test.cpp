#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "compare/compare.hpp"
#include "plan/request.hpp"
#include "record/json.hpp"
#include "record/rows.hpp"
#include "report/report.hpp"

namespace flashbench {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class CompareFiles : public ::testing::Test {
 protected:
  void TearDown() override { fs::remove_all(folder_); }
  std::string file(const std::string& name, const std::string& text) {
    const std::string path = (folder_ / name).string();
    write_atomically(path, text);
    return path;
  }
  std::string error(const std::string& base, const std::string& now) {
    try {
      compare_files(base, now, {});
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  }

  const fs::path folder_ =
      fs::temp_directory_path() / ("flashbench-compare-test-" + std::to_string(::getpid()));
};

TEST_F(CompareFiles, refuses_a_report_with_itself) {
  const std::string text = report_text(testing::report({testing::row("v2", 1)}));
  const std::string one = file("one.json", text), copy = file("copy.json", text),
                    compact = file("compact.json", Json::parse(text).dump());
  EXPECT_THAT(error(one, one), HasSubstr("itself"));
  EXPECT_THAT(error(one, (folder_ / "." / "one.json").string()), HasSubstr("itself"));
  EXPECT_THAT(error(one, copy), HasSubstr("itself"));
  EXPECT_THAT(error(one, compact), HasSubstr("itself"));
}

TEST_F(CompareFiles, names_the_file_that_is_no_report) {
  const std::string good = file("good.json", report_text(testing::report({testing::row("v2", 1)})));
  EXPECT_THAT(error(good, (folder_ / "none.json").string()), HasSubstr("none.json"));
  EXPECT_THAT(error(file("broken.json", "{\"rows\":"), good), HasSubstr("broken.json"));
  EXPECT_THAT(error(file("empty.json", ""), good), HasSubstr("empty.json"));
  EXPECT_THAT(error(folder_.string(), good), HasSubstr("folder"));
}

TEST_F(CompareFiles, converts_a_baseline_in_microseconds) {
  const std::string rows = R"("device":{"name":"g"},"rows":[{"key":"A",)";
  const std::string base =
      file("base.json", testing::in_report(rows + R"("time_us":{"median":1000}}])"));
  const std::string now =
      file("new.json", testing::in_report(rows + R"("time_ms":{"median":1.051}}])"));
  EXPECT_EQ(compare_files(base, now, {}).exit_code, 5);
}

TEST_F(CompareFiles, tells_a_change_from_saved_reports) {
  const std::string base = file("a.json", report_text(testing::report({testing::row("v2", 2)})));
  const std::string now = file("b.json", report_text(testing::report({testing::row("v2", 1)})));
  EXPECT_EQ(compare_files(base, now, {}).pairs[0].change, Change::faster);
}

}  // namespace
}  // namespace flashbench
