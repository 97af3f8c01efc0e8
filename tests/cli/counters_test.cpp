// --counters as the command shows it: columns, the table of traffic, every format.
#include <gmock/gmock.h>

#include "cli/installed.hpp"

namespace flashbench::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Counters : public Installed {
 protected:
  Outcome counted(Arguments words, const Environment& environment = {}) const {
    words.insert(words.begin(), {"--counters", "--seq", "64", "--time-budget", "0.05"});
    return says(words, environment);
  }
};

TEST_F(Counters, StandInTheTableAndInEveryFormat) {
  const Outcome run = counted({"--impl", "ok", "--json", out / "r.json", "--csv", out / "r.csv"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("L2 to SM MB"), HasSubstr("traffic of one run, MB")));
  const auto report = this->report();
  const auto& traffic = report.at("rows")[0].at("traffic");
  EXPECT_EQ(traffic.at("measured").at("dram__bytes_read.sum"), 1e6);
  EXPECT_FALSE(traffic.contains("uncounted"));
  EXPECT_THAT(read_file(out / "r.csv"), HasSubstr("dram_read_bytes"));
  EXPECT_FALSE(std::filesystem::exists(out / "r.json.journal"));
}

TEST_F(Counters, ThatMayNotBeReadAreNoError) {
  const Outcome run =
      counted({"--impl", "ok", "--json", out / "r.json", "--strict"}, {{"FAKE_FORBIDDEN", "1"}});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("no hardware counters: the driver forbids them: ask an"));
  const auto row = report().at("rows")[0];
  EXPECT_EQ(row.at("status"), "ok");
  EXPECT_EQ(row.at("traffic").at("uncounted"), "the driver forbids them: ask an administrator");
}

TEST_F(Counters, OfADryRunAreNotRead) {
  const Outcome run = counted({"--impl", "ok", "--dry-run"}, {{"FAKE_LOG", out / "log"}});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(read_file(out / "log"), Not(HasSubstr("count")));
}

}  // namespace
}  // namespace flashbench::test
