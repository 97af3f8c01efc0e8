// flashbench claims on a saved report: real rows, of which the CPU's counts bear claims out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "support/run_program.hpp"
#include "support/temporary_folder.hpp"
#include "support/text.hpp"

namespace flashbench::test {
namespace {

using testing::HasSubstr;

class ClaimsOfAReport : public testing::Test {
 protected:
  // 2048 keys are four of V1's tiles.
  static void SetUpTestSuite() {
    const Outcome run = flashbench_says(
        {"run", "--device", "cpu", "--impl", "naive,v1,v2", "--pass", "fwd,bwd", "--seq", "1k,2k",
         "--head-dim", "16", "--mask", "full,causal", "--iters", "1", "--json", file()});
    ASSERT_EQ(run.exit_code, 0) << run.err;
  }
  static const TemporaryFolder& folder() {
    static const TemporaryFolder of_the_suite;
    return of_the_suite;
  }
  static std::string file() { return folder() / "r.json"; }
};

std::map<std::string, std::string> verdicts_of(const std::string& text) {
  const auto report = strict_json(text);
  std::map<std::string, std::string> verdicts;
  for (const auto& claim : report.at("claims")) verdicts[claim.at("name")] = claim.at("verdict");
  return verdicts;
}

TEST_F(ClaimsOfAReport, AreJudgedByItsRows) {
  const Outcome judged = flashbench_says({"claims", file(), "--json", "-"});
  ASSERT_EQ(judged.exit_code, 0) << judged.err;
  auto verdicts = verdicts_of(judged.out);
  for (const char* name : {"o-once",           "q-once",
                           "two-divisions",    "one-division",
                           "no-merges",        "no-waits",
                           "masked-half",      "block-skip",
                           "delayed-exact",    "half-the-statistics",
                           "p-from-l",         "dk-dv-one-block",
                           "dq-across-blocks", "d-identity",
                           "d-once",           "tiles-independent",
                           "savings-add-up",   "early-exit",
                           "causal-exact",     "logsumexp",
                           "kv-outside",       "d-short",
                           "compute-bound"})
    EXPECT_EQ(verdicts[name], "holds") << name;
  EXPECT_EQ(verdicts["v2-utilisation"], "cannot be tested") << "a CPU has no datasheet peak";
  EXPECT_EQ(verdicts["relative-forward"], "cannot be tested") << "nothing of PyTorch was measured";
}

TEST_F(ClaimsOfAReport, AreALineEachAndTheirJsonIsAReportAgain) {
  const std::string again = folder() / "again.json";
  const Outcome judged = flashbench_says({"claims", file(), "--json", again}, {{"COLUMNS", "40"}});
  ASSERT_EQ(judged.exit_code, 0) << judged.err;
  long lines = 0;
  for (const std::string& line : lines_of(judged.out))
    lines += contains(line, "  holds  ") || contains(line, "  does not hold  ") ||
             contains(line, "  cannot be tested  ");
  EXPECT_GE(lines, 50);
  EXPECT_THAT(judged.out, HasSubstr("cannot be tested on this machine"));
  const Outcome table = flashbench_says({"report", again});
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_EQ(flashbench_says({"claims", again}).out, judged.out);
}

TEST_F(ClaimsOfAReport, AreExitOneOnlyIfStrictWhereOneDoesNotHold) {
  // V2 corrects O where the maximum grew: its multiplications are not one less a step.
  EXPECT_EQ(flashbench_says({"claims", file()}).exit_code, 0);
  EXPECT_EQ(flashbench_says({"claims", file(), "--strict"}).exit_code, 1);
}

std::string report_of(const std::string& rows) {
  return R"({"schema":"flashbench.report/1","rows":[)" + rows + "]}";
}

TEST(Claims, OfARowThatFailedAreExitOne) {
  const TemporaryFolder folder;
  const std::string file =
      folder.write("r.json", report_of(R"({"impl":"v2","status":"failed","reason":"o is wrong"})"));
  EXPECT_EQ(flashbench_says({"claims", file}).exit_code, 1);
}

TEST(Claims, OfNoRowsAreExitFour) {
  const TemporaryFolder folder;
  EXPECT_EQ(flashbench_says({"claims", folder.write("r.json", report_of(""))}).exit_code, 4);
}

TEST(Claims, RefuseWhatTheyCannotRead) {
  const Outcome nothing = flashbench_says({"claims", "/no/such/report.json"});
  EXPECT_EQ(nothing.exit_code, 2);
  EXPECT_THAT(nothing.err, HasSubstr("/no/such/report.json"));
  const TemporaryFolder folder;
  const std::string file = folder.write("r.json", report_of(""));
  const Outcome device = flashbench_says({"claims", file, "--device", "cpu"});
  EXPECT_EQ(device.exit_code, 2);
  EXPECT_THAT(device.err, HasSubstr("--device"));
  EXPECT_EQ(flashbench_says({"claims", "--device", "gpu"}).exit_code, 2);
  const Outcome budget = flashbench_says({"claims", file, "--time-budget", "2"});
  EXPECT_EQ(budget.exit_code, 2);
  EXPECT_THAT(budget.err, HasSubstr("--time-budget"));
  EXPECT_EQ(flashbench_says({"claims", "--time-budget", "0"}).exit_code, 2);
}

}  // namespace
}  // namespace flashbench::test
