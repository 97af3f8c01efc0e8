// Runs a real program as a child and keeps all that a user would see of it: standard output,
// standard error, exit code, how long it took.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/places.hpp"

namespace flashbench::test {

using Arguments = std::vector<std::string>;
// Name and value; no value takes the name out of the environment.
using Environment = std::vector<std::pair<std::string, std::optional<std::string>>>;

struct Outcome {
  int exit_code = -1;  // -1 when a signal ended it
  int signal = 0;
  bool timed_out = false;  // then it was killed
  double seconds = 0;
  std::string out, err;
};

// A running child, leader of a process group of its own; killed with its group if nobody waits for
// it.
class Program {
 public:
  Program(const std::string& path, const Arguments& arguments, const Environment& environment = {})
      : out_(std::tmpfile()), err_(std::tmpfile()) {
    if (out_ == nullptr || err_ == nullptr) throw std::runtime_error("no temporary file");
    started_ = std::chrono::steady_clock::now();
    pid_ = fork();
    if (pid_ < 0) throw std::runtime_error("fork failed");
    if (pid_ == 0) become(path, arguments, environment);
    setpgid(pid_, pid_);  // as the child does: whoever comes first
  }
  ~Program() {
    if (!waited_) wait(0);
    std::fclose(out_);
    std::fclose(err_);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  pid_t id() const { return pid_; }
  void send(int signal) const { kill(pid_, signal); }
  // What Ctrl-C on a terminal does: every process of the group gets it.
  void send_to_group(int signal) const { kill(-pid_, signal); }

  Outcome wait(double timeout_s = 120) {
    Outcome outcome;
    pollfd child{static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)), POLLIN, 0};
    if (poll(&child, 1, static_cast<int>(timeout_s * 1000)) == 0) {
      outcome.timed_out = true;
      send_to_group(SIGKILL);
    }
    int status = 0;
    waitpid(pid_, &status, 0);
    waited_ = true;
    if (child.fd >= 0) close(child.fd);
    outcome.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
    if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
    outcome.out = text_of(out_);
    outcome.err = text_of(err_);
    return outcome;
  }

 private:
  [[noreturn]] void become(const std::string& path, const Arguments& arguments,
                           const Environment& environment) {
    setpgid(0, 0);
    const int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, STDIN_FILENO);
    dup2(fileno(out_), STDOUT_FILENO);
    dup2(fileno(err_), STDERR_FILENO);
    for (const auto& [name, value] : environment) {
      if (value)
        setenv(name.c_str(), value->c_str(), 1);
      else
        unsetenv(name.c_str());
    }
    std::vector<char*> words{const_cast<char*>(path.c_str())};
    for (const std::string& argument : arguments)
      words.push_back(const_cast<char*>(argument.c_str()));
    words.push_back(nullptr);
    execv(path.c_str(), words.data());
    dprintf(STDERR_FILENO, "cannot start %s\n", path.c_str());
    _exit(127);
  }

  static std::string text_of(std::FILE* file) {
    std::string text;
    std::rewind(file);
    char piece[4096];
    for (std::size_t n; (n = std::fread(piece, 1, sizeof piece, file)) > 0;) text.append(piece, n);
    return text;
  }

  std::FILE *out_, *err_;
  std::chrono::steady_clock::time_point started_;
  pid_t pid_ = -1;
  bool waited_ = false;
};

inline const std::string flashbench_program = in_bin("flashbench");

inline Outcome flashbench_says(const Arguments& arguments, const Environment& environment = {},
                               double timeout_s = 120) {
  return Program(flashbench_program, arguments, environment).wait(timeout_s);
}

}  // namespace flashbench::test
