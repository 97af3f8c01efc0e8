#include "device/lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>

namespace flashbench {

namespace {

namespace fs = std::filesystem;
constexpr std::chrono::milliseconds between_attempts{50};

// Never removed: a file that goes while somebody waits for it locks nothing.
std::string file_of(std::string uuid) {
  std::ranges::replace(uuid, '/', '_');  // older drivers: MIG-GPU-.../1/0
  std::error_code error;
  fs::path folder = fs::temp_directory_path(error);
  if (error) folder = "/tmp";
  return folder / fmt::format("flashbench-{}.lock", uuid);
}

// -1, and errno, where it cannot be had.
int open_shared(const std::string& path) {
  constexpr int how = O_RDWR | O_NOFOLLOW | O_CLOEXEC;
  // Not with O_CREAT at once: in a sticky folder that refuses another user's file.
  if (const int file = open(path.c_str(), how); file >= 0 || errno != ENOENT) return file;
  const int file = open(path.c_str(), how | O_CREAT, 0666);
  if (file >= 0) fchmod(file, 0666);  // whatever the umask: the next user may be another one
  return file;
}

// 0 where nobody has signed.
int holder(int file) {
  std::array<char, 16> text{};
  const ssize_t got = pread(file, text.data(), text.size(), 0);
  int pid = 0;
  if (got > 0) std::from_chars(text.data(), text.data() + got, pid);
  return pid;
}

std::string waiting_for(int pid, const std::string& uuid) {
  const std::string who = pid > 0 ? fmt::format("process {}", pid) : "another process";
  return fmt::format("{} measures on {}; waiting until it ends", who, uuid);
}

void sign(int file) {
  const std::string pid = std::to_string(getpid()) + "\n";
  if (ftruncate(file, 0) != 0 || pwrite(file, pid.data(), pid.size(), 0) < 0)
    return;  // the lock holds without a name on it
}

}  // namespace

GpuLock::GpuLock(const std::string& uuid, const Say& say, const std::function<bool()>& give_up) {
  if (uuid.empty()) return;
  const std::string path = file_of(uuid);
  file_ = open_shared(path);
  for (int attempt = 0; file_ >= 0; ++attempt) {
    held_ = flock(file_, LOCK_EX | LOCK_NB) == 0;
    if (held_ || errno != EWOULDBLOCK) break;
    if (attempt == 1 && say) say(waiting_for(holder(file_), uuid));  // it has signed by now
    if (give_up && give_up()) return;
    std::this_thread::sleep_for(between_attempts);
  }
  if (held_)
    sign(file_);
  else if (say)
    say(fmt::format("cannot lock {} ({}): another run may measure on this GPU at the same time",
                    path, std::strerror(errno)));
}

GpuLock::~GpuLock() {
  if (file_ >= 0) close(file_);
}

}  // namespace flashbench
