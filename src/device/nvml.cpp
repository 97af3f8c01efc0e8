#include "device/nvml.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>

namespace flashbench {

namespace {

// Codes and structs as NVML declares them.
constexpr int success = 0, not_supported = 3, insufficient_size = 7;

struct PciInfo {
  std::array<char, 16> legacy_bus_id;
  unsigned domain, bus, device, device_id, subsystem_id;
  std::array<char, 32> bus_id;
};

struct ProcessInfo {
  unsigned pid;
  unsigned long long memory_bytes;
  unsigned gpu_instance, compute_instance;
};

std::optional<double> scaled(int code, unsigned value, double unit) {
  return code == success ? std::optional(value * unit) : std::nullopt;
}

}  // namespace

template <class... Arguments>
int Nvml::call(const char* function, Arguments... arguments) const {
  using Function = int (*)(Arguments...);
  const auto found = reinterpret_cast<Function>(dlsym(library_, function));
  return found ? found(arguments...) : not_supported;
}

template <std::size_t Size, class... Arguments>
std::optional<std::string> Nvml::text(const char* function, Arguments... before) const {
  std::array<char, Size> buffer{};
  const int code = call(function, before..., buffer.data(), static_cast<unsigned>(buffer.size()));
  buffer.back() = '\0';
  return code == success ? std::optional<std::string>(buffer.data()) : std::nullopt;
}

std::string Nvml::sentence(int code) const {
  using ErrorString = const char* (*)(int);
  const auto describe = reinterpret_cast<ErrorString>(dlsym(library_, "nvmlErrorString"));
  return describe ? describe(code) : fmt::format("NVML's error {}", code);
}

std::unique_ptr<Nvml> Nvml::open(const std::string& uuid, std::string& why) {
  const char* chosen = std::getenv("FLASHBENCH_NVML");
  void* library = dlopen(chosen && *chosen ? chosen : "libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    why = dlerror();
    return nullptr;
  }
  std::unique_ptr<Nvml> nvml(new Nvml(library));
  int code = nvml->call("nvmlInit_v2");
  nvml->started_ = code == success;
  if (nvml->started_) code = nvml->call("nvmlDeviceGetHandleByUUID", uuid.c_str(), &nvml->device_);
  if (code == success) return nvml;
  why = fmt::format("{}: {}", nvml->started_ ? uuid : "NVML", nvml->sentence(code));
  return nullptr;
}

Nvml::~Nvml() {
  if (started_) call("nvmlShutdown");
  dlclose(library_);
}

std::optional<std::string> Nvml::driver_version() const {
  return text<80>("nvmlSystemGetDriverVersion");
}

std::optional<std::string> Nvml::name() const {
  return text<96>("nvmlDeviceGetName", device_);
}

std::optional<std::string> Nvml::pci_bus_id() const {
  PciInfo info{};
  if (call("nvmlDeviceGetPciInfo_v3", device_, &info) != success) return std::nullopt;
  info.bus_id.back() = '\0';
  return info.bus_id.data();
}

std::optional<double> Nvml::clock_mhz(Clock which) const {
  unsigned mhz = 0;
  const int code = call("nvmlDeviceGetClockInfo", device_, static_cast<unsigned>(which), &mhz);
  return scaled(code, mhz, 1);
}

std::optional<double> Nvml::highest_clock_mhz(Clock which) const {
  unsigned mhz = 0;
  const int code = call("nvmlDeviceGetMaxClockInfo", device_, static_cast<unsigned>(which), &mhz);
  return scaled(code, mhz, 1);
}

std::optional<double> Nvml::power_limit_w() const {
  unsigned milliwatts = 0;
  const int code = call("nvmlDeviceGetEnforcedPowerLimit", device_, &milliwatts);
  return scaled(code, milliwatts, 1e-3);
}

std::optional<std::uint64_t> Nvml::clock_reasons() const {
  // The first is the name that drivers use since 535, the second what they called it before.
  for (const char* function :
       {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"}) {
    unsigned long long reasons = 0;
    if (call(function, device_, &reasons) == success) return reasons;
  }
  return std::nullopt;
}

std::optional<std::vector<pid_t>> Nvml::compute_processes() const {
  std::vector<ProcessInfo> found(16);
  for (int attempt = 0; attempt < 3; ++attempt) {  // there may be more of them each time
    auto count = static_cast<unsigned>(found.size());
    const int code = call("nvmlDeviceGetComputeRunningProcesses_v3", device_, &count, found.data());
    if (code == success) {
      std::vector<pid_t> pids;
      for (unsigned i = 0; i < count && i < found.size(); ++i)
        pids.push_back(static_cast<pid_t>(found[i].pid));
      return pids;
    }
    if (code != insufficient_size) return std::nullopt;
    found.resize(count + 16);
  }
  return std::nullopt;
}

}  // namespace flashbench
