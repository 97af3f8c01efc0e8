#include "schedule/scratch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "process/interrupt.hpp"
#include "record/write_error.hpp"

namespace flashbench {

namespace {

namespace fs = std::filesystem;
constexpr std::string_view prefix = "flashbench-scratch-";

std::vector<fs::path> candidates() {
  std::vector<fs::path> result;
  if (const char* chosen = std::getenv("TMPDIR"); chosen && *chosen) result.emplace_back(chosen);
  result.emplace_back("/dev/shm");
  result.emplace_back("/tmp");
  return result;
}

bool roomy(const fs::path& folder, std::int64_t needed_bytes) {
  std::error_code error;
  const fs::space_info space = fs::space(folder, error);
  return !error && space.available / 2 >= static_cast<std::uintmax_t>(needed_bytes);
}

// The age keeps a folder safe that is being made: it has no lock yet.
void remove_if_abandoned(const fs::path& folder) {
  std::error_code error;
  const auto age = fs::file_time_type::clock::now() - fs::last_write_time(folder, error);
  if (error || age < std::chrono::minutes(10)) return;
  const int lock = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (lock < 0) return;
  if (flock(lock, LOCK_EX | LOCK_NB) == 0) fs::remove_all(folder, error);
  close(lock);
}

void remove_abandoned(const fs::path& parent) {
  std::error_code error;
  for (fs::directory_iterator it(parent, error), end; !error && it != end; it.increment(error))
    if (it->path().filename().string().starts_with(prefix)) remove_if_abandoned(it->path());
}

}  // namespace

Scratch::Scratch(std::int64_t needed_bytes) {
  std::vector<fs::path> order;
  for (const fs::path& folder : candidates())
    if (roomy(folder, needed_bytes)) order.push_back(folder);
  for (const fs::path& folder : candidates()) order.push_back(folder);
  for (const fs::path& folder : order) {
    std::string name = (folder / prefix).string() + "XXXXXX";
    if (!mkdtemp(name.data())) continue;
    path_ = name;
    lock_ = open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock_ >= 0) flock(lock_, LOCK_SH | LOCK_NB);
    register_scratch(name);
    remove_abandoned(folder);
    return;
  }
  throw WriteError(fmt::format("cannot make a folder for outputs in $TMPDIR, /dev/shm or /tmp: {}",
                               std::strerror(errno)));
}

Scratch::~Scratch() {
  std::error_code error;
  fs::remove_all(path_, error);
  register_scratch("");
  if (lock_ >= 0) close(lock_);
}

}  // namespace flashbench
