#include "schedule/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "record/text.hpp"
#include "record/write_error.hpp"

namespace flashbench {

namespace {

// Whether a row that says ok holds what a run with this check makes of one: another program's
// report, or one that was edited, may not.
bool holds_its_figures(const Row& row, const std::string& check) {
  if (row.status != Status::ok) return true;
  const bool timed = row.time && row.time->median > 0 && !row.time->samples.empty();
  return (check == "only" || timed) && (check == "none" || !row.numerics.empty());
}

[[noreturn]] void refuse(const std::string& path, const char* verb) {
  throw std::runtime_error(fmt::format("cannot {} {}: {}", verb, path, std::strerror(errno)));
}

template <class Value>
void must_match(const char* field, const Value& earlier, const Value& now) {
  if (earlier == now) return;
  throw UsageError(
      fmt::format("--resume needs the same device, build and inputs: {} was {} and is {}", field,
                  earlier, now));
}

}  // namespace

Journal::Journal(std::string path) : path_(std::move(path)) {
  while (!lock()) close(std::exchange(descriptor_, -1));
}

// False where the file that was opened is no longer the one of that name: whoever had it before has
// deleted it.
bool Journal::lock() {
  descriptor_ = open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor_ < 0) refuse(path_, "open");
  // A file system without locks is no reason not to measure.
  if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    close(std::exchange(descriptor_, -1));
    throw std::runtime_error(
        fmt::format("another run is writing there: it has locked {}; wait for it, or write to "
                    "another file",
                    path_));
  }
  struct stat opened = {}, named = {};
  return fstat(descriptor_, &opened) == 0 && stat(path_.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

Journal::~Journal() {
  if (descriptor_ < 0) return;
  struct stat facts = {};
  if (fstat(descriptor_, &facts) == 0 && facts.st_nlink > 0 && facts.st_size == 0)
    unlink(path_.c_str());
  close(descriptor_);
}

void Journal::begin() {
  if (ftruncate(descriptor_, 0) != 0) refuse(path_, "empty");
}

void Journal::append(const Row& row) {
  const std::string line = row_line(row) + "\n";
  for (std::size_t written = 0; written < line.size();) {
    const ssize_t now = write(descriptor_, line.data() + written, line.size() - written);
    if (now < 0 && errno != EINTR)
      throw WriteError(path_, static_cast<std::int64_t>(line.size()), errno);
    if (now > 0) written += static_cast<std::size_t>(now);
  }
}

void Journal::discard() {
  unlink(path_.c_str());
}

std::vector<Row> read_journal(const std::string& path) {
  std::vector<Row> rows;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line) && !file.eof();)
    rows.push_back(parse_row_line(line));
  return rows;
}

bool stands(const Row& row) {
  return row.status != Status::crashed && row.status != Status::timeout &&
         row.status != Status::not_run;
}

std::vector<Row> resumable_rows(const Report& earlier, const Report& now) {
  must_match("backend", name(earlier.device.backend), name(now.device.backend));
  must_match("device", earlier.device.name, now.device.name);
  must_match("device uuid", earlier.device.uuid, now.device.uuid);
  must_match("version", earlier.tool_version, now.tool_version);
  must_match("commit", earlier.tool_commit, now.tool_commit);
  must_match("build", earlier.tool_build, now.tool_build);
  must_match("seed", earlier.measurement.seed, now.measurement.seed);
  must_match("method", earlier.measurement.method, now.measurement.method);
  must_match("check", earlier.measurement.check, now.measurement.check);
  must_match("iters", earlier.measurement.iters.value_or(0), now.measurement.iters.value_or(0));
  std::vector<Row> rows;
  for (const Row& row : earlier.rows) {
    const bool inputs_known = row.what.problem.init != Init::loaded || !row.inputs_checksum.empty();
    if (stands(row) && holds_its_figures(row, now.measurement.check) && inputs_known &&
        identity(row) == key(row.what))
      rows.push_back(row);
  }
  return rows;
}

}  // namespace flashbench
