// What every station may throw at wrong input.
#pragma once

#include <stdexcept>

namespace flashbench {

// Wrong words or files from the user (exit 2); what() names what was wrong and what would be right.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A line or file that is not what it should be; what() names the file or quotes the line, and says
// what was expected.
struct ProtocolError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace flashbench
