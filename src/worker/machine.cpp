#include "worker/machine.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <set>

#include "record/first_line.hpp"
#include "worker/parallel.hpp"

namespace flashbench {

namespace {

// What follows "field:" in a file of such lines; empty when absent.
std::string field(const std::string& path, const std::string& name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(name)) continue;
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const auto start = line.find_first_not_of(" \t", colon + 1);
    return start == std::string::npos ? "" : line.substr(start);
  }
  return {};
}

// "2048K", "1234 kB", "77"; nothing for "max" and for what is absent.
std::optional<std::int64_t> bytes(const std::string& text) {
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  const std::string_view unit(stop, static_cast<std::size_t>(text.data() + text.size() - stop));
  if (unit.starts_with("K") || unit.starts_with(" k")) return value << 10;
  return unit.starts_with("M") ? value << 20 : value;
}

// The folder of sysfs that describes a CPU's L2; empty when there is none.
std::string l2_folder(int cpu) {
  for (int index = 0; index < 8; ++index) {
    const std::string folder =
        fmt::format("/sys/devices/system/cpu/cpu{}/cache/index{}/", cpu, index);
    if (first_line(folder + "level") == "2") return folder;
  }
  return {};
}

std::optional<std::int64_t> left_of_group() {
  for (const auto& [limit, used] :
       {std::pair{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
        std::pair{"/sys/fs/cgroup/memory/memory.limit_in_bytes",
                  "/sys/fs/cgroup/memory/memory.usage_in_bytes"}}) {
    const auto most = bytes(first_line(limit)), now = bytes(first_line(used));
    if (most && now) return std::max<std::int64_t>(*most - *now, 0);
  }
  return std::nullopt;
}

}  // namespace

std::string cpu_name() {
  const std::string name = field("/proc/cpuinfo", "model name");
  return name.empty() ? "unknown CPU" : name;
}

std::vector<int> usable_cpus() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &allowed)) cpus.push_back(cpu);
  if (cpus.empty()) cpus.push_back(0);
  return cpus;
}

std::int64_t l2_bytes_of(int cpu) {
  const std::string folder = l2_folder(cpu);
  return folder.empty() ? 1 << 20 : bytes(first_line(folder + "size")).value_or(1 << 20);
}

std::int64_t l2_bytes() {
  std::int64_t sum = 0;
  std::set<std::string> seen;
  for (const int cpu : usable_cpus()) {
    const std::string folder = l2_folder(cpu);
    const std::string shared = folder.empty() ? "" : first_line(folder + "shared_cpu_list");
    if (shared.empty() || seen.insert(shared).second) sum += l2_bytes_of(cpu);
  }
  return sum;
}

std::int64_t total_memory() {
  return bytes(field("/proc/meminfo", "MemTotal")).value_or(0);
}

std::optional<std::int64_t> left_of_address_space() {
  constexpr std::int64_t blas_buffer = std::int64_t{128} << 20;
  rlimit limit = {};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  const std::int64_t taken =
      bytes(field("/proc/self/status", "VmSize")).value_or(0) + usable_threads() * blas_buffer;
  return std::max<std::int64_t>(static_cast<std::int64_t>(limit.rlim_cur) - taken, 0);
}

std::optional<std::int64_t> available_memory() {
  std::optional<std::int64_t> least;
  for (const auto& left :
       {bytes(field("/proc/meminfo", "MemAvailable")), left_of_group(), left_of_address_space()})
    if (left && (!least || *left < *least)) least = left;
  return least;
}

}  // namespace flashbench
