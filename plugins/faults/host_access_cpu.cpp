#include <cstring>

#include "plugins/faults/host_access.hpp"

namespace flashbench::faults {

void to_host(void* host, const void* memory, std::int64_t bytes, void*) {
  std::memcpy(host, memory, static_cast<std::size_t>(bytes));
}

void from_host(void* memory, const void* host, std::int64_t bytes, void*) {
  std::memcpy(memory, host, static_cast<std::size_t>(bytes));
}

}  // namespace flashbench::faults
