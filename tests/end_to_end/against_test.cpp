// --against: another build in the same rounds, its rows paired with this build's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "support/places.hpp"
#include "support/run_program.hpp"
#include "support/temporary_folder.hpp"
#include "support/text.hpp"

namespace flashbench::test {
namespace {

namespace fs = std::filesystem;
using testing::ContainsRegex;
using testing::HasSubstr;

// This front over fake workers, whose samples are what FAKE_MS says, and other builds with theirs.
class Builds {
 public:
  Builds() {
    fs::copy_file(flashbench_program, folder_ / "flashbench");
    for (const char* name : {"flashbench-worker-cpu", "flashbench-judge"})
      fs::create_symlink(fake_worker, folder_ / name);
  }
  // A build whose worker is started with these variables; `where` its programs lie in.
  std::string add(const std::string& name, const std::string& where,
                  const std::string& variables) const {
    fs::create_directories(folder_.path() / name / where);
    const std::string program =
        folder_.write(name + "/" + where + "/flashbench-worker-cpu",
                      "#!/bin/sh\n" + variables + " exec " + fake_worker + " \"$@\"\n");
    fs::permissions(program, fs::perms::owner_all);
    return folder_ / name;
  }
  Outcome run(const Arguments& more) const {
    Arguments words{"--device", "cpu", "--impl", "ok", "--seq", "64", "--time-budget", "0.1"};
    words.insert(words.end(), more.begin(), more.end());
    return Program(folder_ / "flashbench", words, {{"FAKE_NAMES", "ok"}}).wait();
  }
  std::string operator/(const std::string& name) const { return folder_ / name; }

 private:
  TemporaryFolder folder_;
};

TEST(Against, TheSameBuildMakesNoDifference) {
  const Builds builds;
  const Outcome run = builds.run({"--against", builds.add("same", "bin", "")});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("base against:same, new this build"));
  EXPECT_THAT(
      run.out,
      HasSubstr("0 FASTER, 0 SLOWER, 1 SAME, 0 UNSURE, 0 lost, 0 gained, 0 missing, 0 new"));
}

TEST(Against, ASlowerBuildIsFoundInEachPlace) {
  const Builds builds;
  int count = 0;
  for (const char* where : {"", "bin", "build/bin", "libexec/flashbench"}) {
    const std::string slower = builds.add("slower" + std::to_string(++count), where, "FAKE_MS=2");
    const Outcome run = builds.run({"--against", slower});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr("1 FASTER, 0 SLOWER"));
  }
}

TEST(Against, AFasterBuildIsExit5AndSpeedUpsAreOverTheOwnRow) {
  const Builds builds;
  const std::string faster = builds.add("faster", "bin", "FAKE_MS=0.5");
  const Outcome run = builds.run({"--against", "old=" + faster, "--json", "-"});
  EXPECT_EQ(run.exit_code, 5) << run.err;
  EXPECT_THAT(run.err, HasSubstr("0 FASTER, 1 SLOWER"));
  const auto rows = strict_json(run.out).at("rows");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_THAT(rows[1].at("key").get<std::string>(), testing::EndsWith("against:old"));
  EXPECT_EQ(rows[1].at("speedup").at("vs"), "ok (built-in)");
  EXPECT_NEAR(rows[1].at("speedup").at("value").get<double>(), 2, 0.01);
  EXPECT_EQ(rows[0].at("shared_rounds_with").size(), 1U);
}

TEST(Against, AnotherMethodIsNotComparable) {
  const Builds builds;
  const Outcome run = builds.run({"--against", builds.add("other", "bin", "FAKE_METHOD=0")});
  EXPECT_EQ(run.exit_code, 6) << run.out;
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, HasSubstr("it measures by method 0 and this program by"));
}

TEST(Against, AFolderWithoutAWorkerIsRefused) {
  const Builds builds;
  const auto refused = [&](const std::string& given, const std::string& why) {
    const Outcome run = builds.run({"--against", given});
    EXPECT_EQ(run.exit_code, 2) << run.out;
    EXPECT_THAT(run.err, HasSubstr("--against " + given + ": "));
    EXPECT_THAT(run.err, HasSubstr(why));
  };
  fs::create_directory(builds / "empty");
  refused(builds / "empty", "there is no flashbench-worker-cpu in it");
  refused(builds / "none", "there is no folder");
  const std::string same = builds.add("same", "bin", "");
  const Outcome twice = builds.run({"--against", same, "--against", same});
  EXPECT_EQ(twice.exit_code, 2);
  EXPECT_THAT(twice.err, HasSubstr("there is another against:same already"));
}

// With the real workers; how they compare is left open, since the machine is not.
TEST(Against, ThisVeryBuildIsCheckedAndTimedBesideItself) {
  const Outcome run =
      flashbench_says({"--device", "cpu", "--impl", "v2", "--seq", "128", "--time-budget", "0.2",
                       "--against", std::string("itself=") + bin_folder, "--threshold", "99%"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, ContainsRegex("v2 +built-in .* pass .* ok"));
  EXPECT_THAT(run.out, ContainsRegex("v2 +against:itself .* pass .* ok"));
  EXPECT_THAT(run.out, HasSubstr("base against:itself, new this build"));
}

}  // namespace
}  // namespace flashbench::test
