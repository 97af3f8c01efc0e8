#include "record/write_error.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <cerrno>
#include <system_error>

namespace flashbench {

namespace {

std::string cause(int code) {
  const std::string words = std::generic_category().message(code);
  rlimit limit{};
  if (code != EFBIG || getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return words;
  return fmt::format("{} (ulimit -f allows {} bytes)", words, limit.rlim_cur);
}

}  // namespace

WriteError::WriteError(const std::string& path, std::int64_t bytes, int code)
    : std::runtime_error(fmt::format("cannot write {} ({} bytes): {}", path, bytes, cause(code))) {}

}  // namespace flashbench
