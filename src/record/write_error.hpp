// A file that could not be written, as on a full disk.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace flashbench {

// Neither an implementation nor the user's words are to blame (exit 2). what() names the file, how
// many bytes were to be written, and the cause.
struct WriteError : std::runtime_error {
  using std::runtime_error::runtime_error;
  // `code` is an errno.
  WriteError(const std::string& path, std::int64_t bytes, int code);
};

}  // namespace flashbench
