// Reads and writes a tensor's memory from the host; one definition a backend. Both wait.
#pragma once

#include <cstdint>

namespace flashbench::faults {

void to_host(void* host, const void* memory, std::int64_t bytes, void* stream);
void from_host(void* memory, const void* host, std::int64_t bytes, void* stream);

}  // namespace flashbench::faults
