#include "roster/roster.hpp"

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
      std::filesystem::create_symlink(FLASHBENCH_FAKE_WORKER, folder / program);
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

}  // namespace
}  // namespace flashbench::test
