#include "cli/console.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace flashbench {

namespace {

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value && *value;
}

std::size_t terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

bool is_dumb() {
  const char* terminal = std::getenv("TERM");
  return !terminal || std::string_view(terminal) == "dumb";
}

}  // namespace

bool is_terminal(int descriptor) {
  return isatty(descriptor) == 1;
}

bool may_color_stdout() {
  return is_terminal(STDOUT_FILENO) && !is_set("NO_COLOR") && !is_dumb();
}

Console::Console() : terminal_(is_terminal(STDERR_FILENO) && !is_dumb()) {}

void Console::progress(const std::string& what, std::size_t done, std::size_t of,
                       double seconds_left) {
  if (!terminal_) return;
  std::string line = fmt::format("[{}/{}] {}", done, of, what);
  if (seconds_left >= 0) line += fmt::format(", about {:.0f} s left", seconds_left);
  const std::size_t width = terminal_width();
  if (line.size() >= width) line.resize(width - 1);
  print_error("\r\x1b[K{}", line);
  std::fflush(stderr);
  dirty_ = true;
}

void Console::note(const std::string& line) {
  if (!terminal_) return;
  clear();
  print_error("{}\n", line);
}

void Console::warn(const std::string& sentence) {
  clear();
  print_error("flashbench: {}\n", sentence);
}

void Console::clear() {
  if (!dirty_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  dirty_ = false;
}

void prepare_process() {
  // A write beyond `ulimit -f` then fails as one to a full disk does, here and in the workers.
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);  // a reader that goes away costs its own output alone
  for (int descriptor = 0; descriptor <= 2; ++descriptor)
    if (fcntl(descriptor, F_GETFD) < 0)
      // The lowest free number is this one.
      if (open("/dev/null", descriptor == 2 ? O_WRONLY : O_RDONLY) < 0) return;
}

}  // namespace flashbench
