#include "process/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#include "process/interrupt.hpp"

namespace flashbench {

namespace {

struct ChildSetup {
  const char* program;
  char* const* arguments;
  int channel, null, words, failure;
  pid_t parent;
};

// Between fork and exec: async-signal-safe calls only.
[[noreturn]] void become(const ChildSetup& setup) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != setup.parent) _exit(127);  // it died before prctl took hold
  dup2(setup.null, STDIN_FILENO);
  dup2(setup.null, STDOUT_FILENO);
  dup2(setup.words, STDERR_FILENO);
  fcntl(setup.channel, F_SETFD, 0);
  signal(SIGPIPE, SIG_DFL);  // the front's alone to ignore
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execv(setup.program, setup.arguments);
  const int error = errno;
  if (write(setup.failure, &error, sizeof error) < 0) _exit(126);
  _exit(127);
}

// Closes itself, so that a constructor that throws leaks nothing.
struct Descriptor {
  int value = -1;
  ~Descriptor() {
    if (value >= 0) close(value);
  }
  int take() { return std::exchange(value, -1); }
};

[[noreturn]] void refuse(const std::string& program, int error) {
  throw ProcessError(fmt::format("cannot start {}: {}", program, std::strerror(error)));
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

}  // namespace

Process::Process(const std::string& program, const std::vector<std::string>& arguments) {
  std::array<int, 2> sockets{-1, -1}, failure{-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0)
    refuse(program, errno);
  Descriptor ours{sockets[0]}, theirs{sockets[1]};
  if (pipe2(failure.data(), O_CLOEXEC) != 0) refuse(program, errno);
  Descriptor failure_read{failure[0]}, failure_write{failure[1]};
  Descriptor null{open("/dev/null", O_RDWR | O_CLOEXEC)};
  Descriptor words{memfd_create("flashbench-stderr", MFD_CLOEXEC)};
  if (null.value < 0 || words.value < 0) refuse(program, errno);
  fcntl(words.value, F_SETFL, O_APPEND);

  std::vector<std::string> command{program};
  command.insert(command.end(), arguments.begin(), arguments.end());
  command.insert(command.end(), {"--descriptor", std::to_string(theirs.value)});
  std::vector<char*> argv = pointers(command);
  const ChildSetup setup{program.c_str(), argv.data(),         theirs.value, null.value,
                         words.value,     failure_write.value, getpid()};
  id_ = fork();
  if (id_ == 0) become(setup);
  if (id_ < 0) refuse(program, errno);
  setpgid(id_, id_);  // also here: whoever comes first
  register_process_group(id_);

  close(failure_write.take());
  int error = 0;
  ssize_t got = 0;
  while ((got = read(failure_read.value, &error, sizeof error)) < 0 && errno == EINTR) {
  }
  if (got > 0) {
    end(std::chrono::seconds(1));
    refuse(program, error);
  }
  descriptor_ = ours.take();
  words_ = words.take();
}

Process::~Process() {
  end(std::chrono::milliseconds(0));
  if (descriptor_ >= 0) close(descriptor_);
  if (words_ >= 0) close(words_);
}

int Process::take_descriptor() {
  return std::exchange(descriptor_, -1);
}

std::string Process::end(std::chrono::milliseconds patience) {
  if (id_ < 0) return cause_;
  const auto deadline = std::chrono::steady_clock::now() + patience;
  bool ended_here = false;
  // WNOWAIT keeps the id taken, so that the group cannot be another's by the time it is killed.
  for (;;) {
    siginfo_t state = {};
    const int waited = waitid(P_PID, static_cast<id_t>(id_), &state, WEXITED | WNOWAIT | WNOHANG);
    if (waited == 0 && state.si_pid == id_) break;
    if (waited != 0 && errno != EINTR) break;
    if (std::chrono::steady_clock::now() >= deadline) {
      ended_here = true;
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  kill(-id_, SIGKILL);
  int status = 0;
  while (waitpid(id_, &status, 0) < 0 && errno == EINTR) {
  }
  forget_process_group(id_);
  cause_ = cause(status, ended_here);
  left_ = !ended_here && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  id_ = -1;
  return cause_;
}

std::string Process::cause(int status, bool ended_here) const {
  std::string text;
  if (ended_here) {
    text = "was ended";
  } else if (WIFSIGNALED(status)) {
    const char* description = sigdescr_np(WTERMSIG(status));
    text = fmt::format("was killed by signal {} ({})", WTERMSIG(status),
                       description ? description : "unknown");
  } else {
    text = fmt::format("exited with status {}", WEXITSTATUS(status));
  }
  if (const std::string words = last_words(); !words.empty())
    text += fmt::format("; its last words: {}", words);
  return text;
}

std::string Process::last_words() const {
  struct stat facts = {};
  if (words_ < 0 || fstat(words_, &facts) != 0) return {};
  std::array<char, 512> tail{};
  const off_t start = std::max<off_t>(0, facts.st_size - static_cast<off_t>(tail.size()));
  const ssize_t got = pread(words_, tail.data(), tail.size(), start);
  if (got <= 0) return {};
  std::string text(tail.data(), static_cast<std::size_t>(got));
  text.erase(text.find_last_not_of(" \t\r\n") + 1);
  if (const auto line = text.rfind('\n'); line != std::string::npos) text.erase(0, line + 1);
  for (char& letter : text)  // one printable line, whatever the worker wrote
    if (static_cast<unsigned char>(letter) < ' ' || static_cast<unsigned char>(letter) > '~')
      letter = '?';
  return text;
}

void Process::trim_words() {
  struct stat facts = {};
  if (words_ >= 0 && fstat(words_, &facts) == 0 && facts.st_size > (1 << 20))
    if (ftruncate(words_, 0) != 0) return;
}

}  // namespace flashbench
