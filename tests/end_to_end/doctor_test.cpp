// flashbench doctor measures for real what this machine can resolve, and says it in either form.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/run_program.hpp"
#include "support/temporary_folder.hpp"
#include "support/text.hpp"

namespace flashbench::test {
namespace {

using testing::HasSubstr;

TEST(Doctor, SaysHowSmallADifferenceTheCpuResolves) {
  const TemporaryFolder folder;
  const std::string file = folder / "doctor.json";
  const Outcome run = flashbench_says(
      {"doctor", "--device", "cpu", "--repeats", "2", "--time-budget", "0.1", "--json", file});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_LT(run.seconds, 8);
  for (const char* word :
       {"v2 against itself: 2 runs", "\nshort  b1 h1 s128 d128 fp32",
        "\nlong   b1 h1 s1024 d128 fp32", "timer step", "launch gap", "load average", "governor"})
    EXPECT_THAT(run.out, HasSubstr(word));
  for (const std::string& line : lines_of(run.out)) EXPECT_LE(line.size(), 202u) << line;

  const auto found = strict_json(read_file(file));
  EXPECT_EQ(found.at("schema"), "flashbench.doctor/1");
  EXPECT_EQ(found.at("complete"), true);
  ASSERT_EQ(found.at("rows").size(), 2u);
  for (const auto& row : found.at("rows")) {
    EXPECT_GT(row.at("median_ms"), 0);
    EXPECT_EQ(row.at("same_rounds").at("pairs"), 2);
    EXPECT_EQ(row.at("other_runs").at("pairs"), 2);
    const auto& resolved = row.at("same_rounds").at("resolved");
    EXPECT_TRUE(resolved.is_null() || resolved >= row.at("same_rounds").at("largest"));
  }
  EXPECT_LT(found.at("rows")[0].at("median_ms"), found.at("rows")[1].at("median_ms"));
  EXPECT_GT(found.at("launch_gap_us"), 0);
}

TEST(Doctor, RefusesWrongWordsBeforeAnyWork) {
  for (const Arguments& words :
       {Arguments{"doctor", "--repeats", "1"}, Arguments{"doctor", "--time-budget", "0"},
        Arguments{"doctor", "--device", "gpu"}, Arguments{"doctor", "--json", "/proc/no/such.json"},
        Arguments{"doctor", "now"}}) {
    const Outcome run = flashbench_says(words);
    EXPECT_EQ(run.exit_code, 2) << words.back();
    EXPECT_LT(run.seconds, 1);
    EXPECT_EQ(run.out, "");
  }
}

TEST(Doctor, OnADeviceThatCannotBeUsedIsThree) {
  EXPECT_EQ(flashbench_says({"doctor", "--device", "99"}).exit_code, 3);
}

}  // namespace
}  // namespace flashbench::test
