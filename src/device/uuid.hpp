// What the UUID of a GPU tells of it.
#pragma once

#include <string_view>

namespace flashbench {

// A slice of a GPU: it has no datasheet, and no clock or power of its own.
inline bool is_mig(std::string_view uuid) {
  return uuid.starts_with("MIG-");
}

}  // namespace flashbench
