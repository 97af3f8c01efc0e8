// Stands in for libnvidia-ml.so.1. Its devices are the lines of the environment variable FAKE_NVML,
// in NVML's order: a UUID, then words key=value. A key that is not there is a query that the driver
// refuses.
//   name (with _ for blanks), pci, clock, max_clock, memory_clock, power_limit (in mW), reasons,
//   reasons_before_535, pids (a comma list; "self" is the process that asks).
// The line "driver VERSION" is the driver's; "broken" makes nvmlInit fail.
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace {

enum Code { success = 0, not_supported = 3, not_found = 6, insufficient_size = 7, not_loaded = 9 };

// Handles are the line's place, counted from 1.
using Handle = std::size_t;

struct PciInfo {
  char legacy_bus_id[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char bus_id[32];
};

struct ProcessInfo {
  unsigned pid;
  unsigned long long memory_bytes;
  unsigned gpu_instance, compute_instance;
};

std::vector<std::string> lines() {
  const char* text = std::getenv("FAKE_NVML");
  std::istringstream stream(text ? text : "");
  std::vector<std::string> result;
  for (std::string line; std::getline(stream, line);) result.push_back(line);
  return result;
}

std::optional<std::string> word(Handle device, const std::string& key) {
  const auto all = lines();
  if (device < 1 || device > all.size()) return std::nullopt;
  std::istringstream words(all[device - 1]);
  for (std::string each; words >> each;)
    if (each.starts_with(key + "=")) return each.substr(key.size() + 1);
  return std::nullopt;
}

template <class Number>
int number(Handle device, const std::string& key, Number* value) {
  const auto text = word(device, key);
  if (!text) return not_supported;
  *value = static_cast<Number>(std::stoull(*text, nullptr, 0));
  return success;
}

int text(std::optional<std::string> value, char* buffer, unsigned size) {
  if (!value) return not_supported;
  if (value->size() >= size) return insufficient_size;
  std::memcpy(buffer, value->c_str(), value->size() + 1);
  return success;
}

std::optional<std::string> after(const std::string& first) {
  for (const std::string& line : lines())
    if (line == first || line.starts_with(first + " "))
      return line.substr(std::min(line.size(), first.size() + 1));
  return std::nullopt;
}

}  // namespace

extern "C" {

int nvmlInit_v2() {
  return after("broken") ? not_loaded : success;
}
int nvmlShutdown() {
  return success;
}
const char* nvmlErrorString(int code) {
  return code == not_found ? "Not Found" : code == not_loaded ? "Driver Not Loaded" : "Refused";
}
int nvmlSystemGetDriverVersion(char* buffer, unsigned size) {
  return text(after("driver"), buffer, size);
}
int nvmlDeviceGetHandleByUUID(const char* uuid, Handle* device) {
  const auto all = lines();
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i] == uuid || all[i].starts_with(std::string(uuid) + " ")) {
      *device = i + 1;
      return success;
    }
  return not_found;
}
int nvmlDeviceGetName(Handle device, char* buffer, unsigned size) {
  auto name = word(device, "name");
  if (name)
    for (char& letter : *name)
      if (letter == '_') letter = ' ';
  return text(name, buffer, size);
}
int nvmlDeviceGetPciInfo_v3(Handle device, PciInfo* info) {
  return text(word(device, "pci"), info->bus_id, sizeof info->bus_id);
}
int nvmlDeviceGetClockInfo(Handle device, unsigned which, unsigned* mhz) {
  return which == 1 ? number(device, "clock", mhz) : not_supported;
}
int nvmlDeviceGetMaxClockInfo(Handle device, unsigned which, unsigned* mhz) {
  return number(device, which == 1 ? "max_clock" : "memory_clock", mhz);
}
int nvmlDeviceGetEnforcedPowerLimit(Handle device, unsigned* milliwatts) {
  return number(device, "power_limit", milliwatts);
}
int nvmlDeviceGetCurrentClocksEventReasons(Handle device, unsigned long long* reasons) {
  return number(device, "reasons", reasons);
}
int nvmlDeviceGetCurrentClocksThrottleReasons(Handle device, unsigned long long* reasons) {
  return number(device, "reasons_before_535", reasons);
}
int nvmlDeviceGetComputeRunningProcesses_v3(Handle device, unsigned* count, ProcessInfo* infos) {
  const auto list = word(device, "pids");
  if (!list) return not_supported;
  std::vector<unsigned> pids;
  std::istringstream stream(*list);
  for (std::string each; std::getline(stream, each, ',');)
    pids.push_back(static_cast<unsigned>(each == "self" ? getpid() : std::stoi(each)));
  const unsigned room = *count;
  *count = static_cast<unsigned>(pids.size());
  if (pids.size() > room) return insufficient_size;
  for (std::size_t i = 0; i < pids.size(); ++i) infos[i] = {pids[i], 0, ~0u, ~0u};
  return success;
}
}
