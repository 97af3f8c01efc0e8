#include "process/process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "schedule/fake_run.hpp"

namespace flashbench::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::chrono_literals;

// The shell gets "--descriptor N" as further arguments, which it ignores.
std::string end_of(const std::string& script, std::chrono::milliseconds patience = 5s) {
  Process process("/bin/sh", {"-c", script});
  return process.end(patience);
}

TEST(Process, SaysHowItEnded) {
  EXPECT_EQ(end_of("exit 0"), "exited with status 0");
  EXPECT_EQ(end_of("exit 7"), "exited with status 7");
  EXPECT_EQ(end_of("kill -SEGV $$"), "was killed by signal 11 (Segmentation fault)");
  EXPECT_EQ(end_of("kill -KILL $$"), "was killed by signal 9 (Killed)");
}

TEST(Process, QuotesItsLastWords) {
  EXPECT_EQ(end_of("echo first >&2; echo 'out of luck' >&2; exit 1"),
            "exited with status 1; its last words: out of luck");
}

TEST(Process, EndsItsWholeGroup) {
  const Folder folder;
  const std::string nap = folder / "nap";
  std::filesystem::create_symlink("/bin/sleep", nap);
  EXPECT_EQ(end_of(nap + " 1000 & " + nap + " 1000", 300ms), "was ended");
  for (int i = 0; i < 100 && !processes(0, nap).empty(); ++i) usleep(20000);
  EXPECT_THAT(processes(0, nap), IsEmpty());
  EXPECT_THAT(children(), IsEmpty());
}

TEST(Process, ThatCannotStartIsAnErrorWithACause) {
  try {
    Process process("/nowhere/worker", {});
    FAIL();
  } catch (const ProcessError& error) {
    EXPECT_THAT(error.what(), HasSubstr("/nowhere/worker: No such file"));
  }
  EXPECT_THAT(children(), IsEmpty());
}

TEST(Process, KeepsStandardOutputToTheFront) {
  testing::internal::CaptureStdout();
  end_of("echo not for you");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

}  // namespace
}  // namespace flashbench::test
