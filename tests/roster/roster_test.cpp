#include "roster/roster.hpp"
#include "support/places.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "schedule/fake_run.hpp"

namespace flashbench::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Programs of these names, all of them the fake worker; one whose name ends in cuda has no device.
struct Installed {
  Folder folder;
  explicit Installed(const std::vector<std::string>& programs) {
    for (const std::string& program : programs)
      std::filesystem::create_symlink(fake_worker, folder / program);
  }
  Roster call(const std::string& device) const { return call_roster(device, {folder.path()}); }
};

const std::vector<std::string> everything{"flashbench-worker-cuda", "flashbench-worker-cpu",
                                          "flashbench-judge"};

std::string refusal(const Installed& installed, const std::string& device) {
  const auto started = std::chrono::steady_clock::now();
  std::string reason;
  try {
    installed.call(device);
  } catch (const DeviceError& error) {
    reason = error.what();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds(2));
  return reason;
}

TEST(Roster, AsksTheCpuWorkerWhoItIs) {
  const Installed installed(everything);
  const Roster roster = installed.call("cpu");
  EXPECT_EQ(roster.backend, Backend::cpu);
  ASSERT_EQ(roster.workers.size(), 1u);
  EXPECT_EQ(roster.workers[0].hello.tool, "fake");
  EXPECT_EQ(roster.judge_program, installed.folder / "flashbench-judge");
  EXPECT_THAT(roster.notices, IsEmpty());
  EXPECT_THAT(children(), IsEmpty());
}

TEST(Roster, FallsToTheCpuWithTheReason) {  // C01
  const Roster roster = Installed(everything).call("auto");
  EXPECT_EQ(roster.backend, Backend::cpu);
  EXPECT_THAT(roster.notices,
              ElementsAre("no usable GPU (driver 11.2 is older than CUDA 12.4 needs): measuring on "
                          "the CPU"));
  const Roster without = Installed({"flashbench-worker-cpu"}).call("auto");
  ASSERT_EQ(without.notices.size(), 1u);
  EXPECT_THAT(without.notices[0], HasSubstr("flashbench-worker-cuda is not in"));
}

TEST(Roster, RefusesADeviceThatCannotBeUsed) {  // C01, C18
  EXPECT_THAT(refusal(Installed(everything), "cuda"), HasSubstr("driver 11.2"));
  EXPECT_THAT(refusal(Installed(everything), "99"), HasSubstr("no usable GPU"));
  EXPECT_THAT(refusal(Installed({"flashbench-worker-cpu"}), "cuda"), HasSubstr("is not in"));
  EXPECT_THAT(refusal(Installed({}), "cpu"), HasSubstr("flashbench-worker-cpu is not in"));
  EXPECT_THAT(refusal(Installed(everything), "tpu"), HasSubstr("\"tpu\""));
}

TEST(Roster, GivesOutAWorkerWithoutADeviceForPlanningWhereItCan) {
  const auto planner = [] {
    try {
      Installed(everything).call("cuda");
    } catch (const DeviceError& error) {
      return error.planner;
    }
    return std::optional<WorkerFacts>();
  };
  EXPECT_FALSE(planner());
  setenv("FAKE_STAND_IN", "NVIDIA H200", 1);
  const std::optional<WorkerFacts> found = planner();
  unsetenv("FAKE_STAND_IN");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->backend, Backend::cuda);
  EXPECT_EQ(found->hello.stand_in, "NVIDIA H200");
  EXPECT_FALSE(found->hello.device);
}

TEST(Roster, RequiresAJudgeNamingWhereItWasLookedFor) {
  EXPECT_NO_THROW(require_judge(Installed(everything).call("cpu")));
  const Installed without({"flashbench-worker-cpu"});
  try {
    require_judge(without.call("cpu"));
    FAIL();
  } catch (const DeviceError& error) {
    EXPECT_THAT(error.what(), HasSubstr("flashbench-judge is not in " + without.folder.path()));
  }
}

TEST(Roster, WaitsForAHelloAsLongAsItIsTold) {
  const Installed installed(everything);
  setenv("FAKE_SILENT", "1", 1);
  try {
    call_roster("cpu", {installed.folder.path()}, 0.3);
    ADD_FAILURE();
  } catch (const DeviceError& error) {
    EXPECT_THAT(error.what(), HasSubstr("no sign of life for 0.3 s (while starting)"));
  }
  unsetenv("FAKE_SILENT");
}

}  // namespace
}  // namespace flashbench::test
