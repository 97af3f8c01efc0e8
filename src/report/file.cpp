#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "record/errors.hpp"
#include "record/write_error.hpp"
#include "report/report.hpp"

namespace flashbench {

namespace {

namespace fs = std::filesystem;

std::runtime_error cannot_write(const std::string& path, int code) {
  std::error_code error;
  const bool unread = code == ENXIO && fs::is_fifo(path, error);
  return std::runtime_error("cannot write " + path + ": " +
                            (unread ? "it is a pipe that nobody reads; start its reader first"
                                    : std::generic_category().message(code)));
}

// An open descriptor that closes itself, unless it is kept; write reports the system's cause.
class File {
 public:
  File(const std::string& path, int flags, const std::string& shown)
      : descriptor_(
            ::open(path.c_str(), flags | O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666)),
        shown_(shown) {
    if (descriptor_ < 0) throw cannot_write(shown_, errno);
    ::fcntl(descriptor_, F_SETFL, 0);  // only a pipe that nobody reads must not be waited for
  }
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  void write(const std::string& text) {
    for (std::size_t done = 0; done < text.size();) {
      const ssize_t n = ::write(descriptor_, text.data() + done, text.size() - done);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) throw WriteError(shown_, static_cast<std::int64_t>(text.size()), errno);
      done += static_cast<std::size_t>(n);
    }
  }
  void keep() { descriptor_ = -1; }
  void sync() {
    if (::fsync(descriptor_) != 0 && errno != EINVAL) throw cannot_write(shown_, errno);
  }

 private:
  int descriptor_;
  std::string shown_;
};

void write_stdout(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    throw WriteError("standard output", static_cast<std::int64_t>(text.size()), errno);
}

// A device or pipe has no old content to keep, and must not be replaced.
bool is_special(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  return !error && fs::exists(status) && !fs::is_regular_file(status);
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

std::string temporary_for(const fs::path& path) {
  return (folder_of(path) / fmt::format(".{}.{}.tmp", path.filename().string(), ::getpid()))
      .string();
}

// A pipe stays open until the process ends: its reader takes a closing for the end.
void probe_special(const fs::path& path, const std::string& shown) {
  File probe(path.string(), 0, shown);
  if (fs::is_fifo(path)) probe.keep();
}

void make_folder(const fs::path& path, const std::string& shown) {
  std::error_code error;
  fs::create_directories(folder_of(path), error);
  if (error) throw cannot_write(shown, error.value());
}

}  // namespace

fs::path file_behind(const std::string& path) {
  constexpr int most_links = 40;  // as Linux has it
  std::error_code error;
  fs::path real = fs::absolute(path, error);
  for (int i = 0; i < most_links && !fs::exists(real, error) && fs::is_symlink(real, error); ++i)
    real = folder_of(real) / fs::read_symlink(real, error);
  const fs::path whole = fs::weakly_canonical(real, error);
  return error ? real : whole;
}

void write_atomically(const std::string& path, const std::string& text) {
  if (path == "-") return write_stdout(text);
  const fs::path target = file_behind(path);
  if (is_special(target)) return File(target.string(), 0, path).write(text);
  make_folder(target, path);
  const std::string temporary = temporary_for(target);
  try {
    File file(temporary, O_CREAT | O_TRUNC, path);
    file.write(text);
    file.sync();
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  if (std::rename(temporary.c_str(), target.c_str()) != 0) {
    const int code = errno;
    ::unlink(temporary.c_str());
    throw cannot_write(path, code);
  }
}

void check_writable(const std::string& path) {
  if (path == "-") return;
  if (path.empty()) throw UsageError("cannot write a report: the file name is empty");
  const fs::path target = file_behind(path);
  std::error_code error;
  if (fs::is_directory(target, error) || path.back() == '/')
    throw UsageError(cannot_write(path, EISDIR).what());
  if (fs::exists(target, error) && ::access(target.c_str(), W_OK) != 0)
    throw UsageError(cannot_write(path, errno).what());
  try {
    if (is_special(target)) return probe_special(target, path);
    make_folder(target, path);
    const std::string temporary = temporary_for(target);
    File probe(temporary, O_CREAT, path);
    ::unlink(temporary.c_str());
  } catch (const std::runtime_error& failure) {
    throw UsageError(failure.what());
  }
}

}  // namespace flashbench
