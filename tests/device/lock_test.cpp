#include "device/lock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <vector>

#include "support/temporary_folder.hpp"

namespace flashbench::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Lock files of these tests, and what was said.
class Lock : public testing::Test {
 protected:
  void SetUp() override { setenv("TMPDIR", folder_.path().c_str(), 1); }
  void TearDown() override { unsetenv("TMPDIR"); }
  GpuLock::Say say() {
    return [this](const std::string& sentence) { said_.push_back(sentence); };
  }
  // Gives up at the third attempt.
  std::function<bool()> impatient() {
    return [this] { return ++attempts_ >= 3; };
  }

  TemporaryFolder folder_;
  std::vector<std::string> said_;
  int attempts_ = 0;
};

TEST_F(Lock, IsHadAtOnceWhereNobodyMeasures) {
  const GpuLock lock("GPU-a", say(), impatient());
  EXPECT_TRUE(lock.held());
  EXPECT_THAT(said_, IsEmpty());
}

TEST_F(Lock, MakesASecondRunOnTheSameGpuWaitAndSayForWhom) {
  std::optional<GpuLock> first(std::in_place, "GPU-a", say(), impatient());
  const GpuLock second("GPU-a", say(), impatient());
  EXPECT_FALSE(second.held());
  EXPECT_EQ(attempts_, 3);
  EXPECT_THAT(said_, ElementsAre(testing::AllOf(HasSubstr("process " + std::to_string(getpid())),
                                                HasSubstr("GPU-a"))));
  first.reset();
  const GpuLock third("GPU-a", say(), impatient());
  EXPECT_TRUE(third.held());
}

TEST_F(Lock, IsOfOneGpu) {
  const GpuLock first("GPU-a", say(), impatient());
  const GpuLock second("GPU-b", say(), impatient());
  EXPECT_TRUE(first.held() && second.held());
  const GpuLock slice("MIG-GPU-a/1/0", say(), impatient());
  EXPECT_TRUE(slice.held());
  EXPECT_THAT(said_, IsEmpty());
}

TEST_F(Lock, LocksNothingWithoutAGpu) {
  const GpuLock first("", say(), impatient());
  const GpuLock second("", say(), impatient());
  EXPECT_THAT(said_, IsEmpty());
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(Lock, IsFreeWhenItsHolderIsKilled) {
  std::array<int, 2> locked{};
  ASSERT_EQ(pipe(locked.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    const GpuLock lock("GPU-a", {}, {});
    if (write(locked[1], "x", 1) == 1) pause();
    _exit(1);
  }
  char answer = 0;
  ASSERT_EQ(read(locked[0], &answer, 1), 1);
  const GpuLock before("GPU-a", say(), impatient());
  EXPECT_FALSE(before.held());
  EXPECT_THAT(said_, ElementsAre(HasSubstr(std::to_string(child))));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  const GpuLock after("GPU-a", say(), impatient());
  EXPECT_TRUE(after.held());
  close(locked[0]);
  close(locked[1]);
}

TEST_F(Lock, IsOpenToOtherUsers) {
  const mode_t before = umask(077);
  const GpuLock lock("GPU-a", say(), {});
  umask(before);
  struct stat facts = {};
  ASSERT_EQ(stat((folder_ / "flashbench-GPU-a.lock").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0666u);
}

TEST_F(Lock, GoesOnWithoutAFileAndSaysSo) {
  std::filesystem::create_directory(folder_ / "flashbench-GPU-a.lock");
  const GpuLock lock("GPU-a", say(), impatient());
  EXPECT_FALSE(lock.held());
  EXPECT_THAT(said_, ElementsAre(HasSubstr("cannot lock")));
}

}  // namespace
}  // namespace flashbench::test
