// What a user sees who watches: progress on a terminal, and only there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <regex>
#include <stdexcept>

#include "support/places.hpp"
#include "support/run_program.hpp"
#include "support/temporary_folder.hpp"

namespace flashbench::test {
namespace {

using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

// What a program writes to a terminal of `columns` columns that takes its stderr; stdout goes to a
// file.
struct Screen {
  std::string text, out;
  int exit_code = -1;
};
Screen watch(const std::string& program, const Arguments& words, const std::string& terminal,
             unsigned short columns = 120) {
  const TemporaryFolder folder;
  const std::string out = folder / "out";
  winsize size{40, columns, 0, 0};
  int master = -1;
  const pid_t child = forkpty(&master, nullptr, nullptr, &size);
  if (child < 0) throw std::runtime_error("this machine gives no pseudo-terminal");
  if (child == 0) {
    setenv("TERM", terminal.c_str(), 1);
    setenv("FAKE_NAMES", "noisy,noisy:2", 1);
    dup2(open(out.c_str(), O_CREAT | O_WRONLY, 0600), STDOUT_FILENO);
    std::vector<char*> arguments{const_cast<char*>(program.c_str())};
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    execv(program.c_str(), arguments.data());
    _exit(127);
  }
  Screen screen;
  char piece[4096];
  for (ssize_t n; (n = read(master, piece, sizeof piece)) > 0;)
    screen.text.append(piece, static_cast<std::size_t>(n));
  int status = 0;
  waitpid(child, &status, 0);
  close(master);
  screen.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  screen.out = read_file(out);
  return screen;
}

class Terminal : public testing::Test {
 protected:
  void SetUp() override {
    fs::copy_file(flashbench_program, bin / "flashbench");
    for (const char* name : {"flashbench-worker-cpu", "flashbench-judge"})
      fs::create_symlink(fake_worker, bin / name);
  }
  TemporaryFolder bin;
  const Arguments words{"--device", "cpu",           "--seq",         "64",
                        "--impl",   "noisy,noisy:2", "--time-budget", "0.6"};
};

TEST_F(Terminal, ShowsWhatGoesOnAndHowLongItWillTake) {
  const Screen screen = watch(bin / "flashbench", words, "xterm");
  EXPECT_EQ(screen.exit_code, 0) << screen.text;
  const std::regex line(
      R"(\r\x1b\[K\[[0-2]/2\] timing noisy(:2)? fwd at 64 x 64, about (\d+) s left)");
  EXPECT_TRUE(std::regex_search(screen.text, line)) << screen.text;
  EXPECT_THAT(screen.text, HasSubstr("ok          noisy/fwd/")) << "a line for each finished row";
  const std::size_t last = screen.text.rfind("\x1b[K");
  ASSERT_NE(last, std::string::npos);
  EXPECT_THAT(screen.text.substr(last), Not(HasSubstr("left"))) << "and nothing of it stays";
  EXPECT_THAT(screen.out, HasSubstr("implementation"));
  EXPECT_THAT(screen.out, Not(HasSubstr("\x1b")));
}

TEST_F(Terminal, ShowsNoLineThatIsWiderThanItIs) {
  const Screen screen = watch(bin / "flashbench", words, "xterm", 20);
  const std::regex line("\x1b\\[K(\\[[0-2]/2\\][^\r\n\x1b]*)");
  std::size_t seen = 0;
  for (std::sregex_iterator at(screen.text.begin(), screen.text.end(), line), end; at != end;
       ++at) {
    EXPECT_LT((*at)[1].length(), 20);
    ++seen;
  }
  EXPECT_GT(seen, 0u) << screen.text;
}

TEST_F(Terminal, ThatIsDumbGetsNoProgress) {
  const Screen screen = watch(bin / "flashbench", words, "dumb");
  EXPECT_EQ(screen.exit_code, 0);
  EXPECT_THAT(screen.text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(screen.text, Not(HasSubstr("left")));
}

}  // namespace
}  // namespace flashbench::test
