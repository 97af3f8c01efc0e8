// What Linux says about this machine's CPU and memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace flashbench {

std::string cpu_name();
// The CPUs this process may run on.
std::vector<int> usable_cpus();
// Of one core, from sysfs; 1 MiB where it does not say.
std::int64_t l2_bytes_of(int cpu);
// The sum over the usable CPUs' distinct L2 caches.
std::int64_t l2_bytes();
std::int64_t total_memory();
// What `ulimit -v` leaves to this process beyond a buffer for each thread's small products, which
// OpenBLAS would ask for again and again without end; nothing without such a limit.
std::optional<std::int64_t> left_of_address_space();
// MemAvailable, or what is left of the control group's limit or of the address space if that is
// less; nothing when unknown.
std::optional<std::int64_t> available_memory();

}  // namespace flashbench
