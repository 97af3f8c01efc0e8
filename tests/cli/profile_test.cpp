// --profile: one pass of each row, and nothing else.
#include <gmock/gmock.h>

#include "cli/installed.hpp"
#include "support/text.hpp"

namespace flashbench::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class Profile : public Installed {
 protected:
  Outcome profile(Arguments words) const {
    words.insert(words.begin(), {"--profile", "--seq", "64"});
    return says(words, {{"FAKE_LOG", out / "log"}});
  }
  std::vector<std::string> asked() const { return lines_of(read_file(out / "log")); }
};

TEST_F(Profile, RunsEachRowOnceUnderItsKeyAndTimesNothing) {
  const Outcome run = profile({"--impl", "ok,noisy", "--json", out / "r.json"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const auto rows = report().at("rows");
  EXPECT_THAT(asked(),
              ElementsAre("describe ok", "describe noisy", "prepare",
                          "profile ok as " + rows[0].at("key").get<std::string>(),
                          "profile noisy as " + rows[1].at("key").get<std::string>(), "drop"));
  for (const auto& row : rows) {
    EXPECT_EQ(row.at("status"), "ok");
    EXPECT_TRUE(row.at("time_ms").is_null());
    EXPECT_TRUE(row.at("tflops").is_null());
    EXPECT_THAT(row.at("command").get<std::string>(), HasSubstr(" --profile"));
  }
  EXPECT_EQ(report().at("measurement").at("check"), "profile");
  EXPECT_TRUE(report().at("measurement").at("time_budget_s").is_null());
  EXPECT_THAT(run.out, AllOf(HasSubstr("nothing was timed or checked"), HasSubstr("ok/fwd/b1/"),
                             HasSubstr("fake"), Not(HasSubstr("TFLOPS")),
                             Not(HasSubstr("time"
                                           " ms"))));
}

TEST_F(Profile, EndsAsACheckDoes) {
  EXPECT_EQ(profile({"--impl", "ok,refuse"}).exit_code, 0);
  EXPECT_EQ(profile({"--impl", "ok,refuse", "--strict"}).exit_code, 1);
  EXPECT_EQ(profile({"--impl", "refuse"}).exit_code, 4);
  EXPECT_EQ(profile({"--impl", "ok,launchfail"}).exit_code, 1);
  const Outcome crashed = profile({"--impl", "ok,crash:1"});
  EXPECT_EQ(crashed.exit_code, 1);
  EXPECT_THAT(crashed.out, HasSubstr("while profiling crash:1 (fwd)"));
}

TEST_F(Profile, NeedsNoJudge) {
  std::filesystem::remove(bin / "flashbench-judge");
  EXPECT_EQ(profile({"--impl", "ok"}).exit_code, 0);
}

TEST_F(Profile, IsNoMeasurementToResume) {
  ASSERT_EQ(profile({"--impl", "ok", "--json", out / "r.json"}).exit_code, 0);
  const Outcome refused =
      says({"--impl", "ok", "--seq", "64", "--no-check", "--resume", out / "r.json"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("check was profile and is none"));
}

TEST_F(Profile, TakesNoWordAboutMeasuring) {
  const std::vector<Arguments> words{
      {"--iters", "3"},   {"--samples", "3"},      {"--time-budget", "1"},
      {"--warmup", "1"},  {"--precision", "1%"},   {"--check-only"},
      {"--wide"},         {"--pivot", "seq"},      {"--baseline", out / "b.json"},
      {"--against", "x"}, {"--resume", out / "b"}, {"--dump", out / "d"}};
  for (const Arguments& more : words) {
    const Outcome refused = profile(more);
    EXPECT_EQ(refused.exit_code, 2) << more[0];
    EXPECT_THAT(refused.err, AllOf(HasSubstr("--profile"), HasSubstr(more[0])));
  }
}

}  // namespace
}  // namespace flashbench::test
