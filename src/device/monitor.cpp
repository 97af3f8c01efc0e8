#include "device/monitor.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "device/uuid.hpp"

namespace flashbench {

namespace {

// 0 where there is no such process, or not in this PID namespace.
pid_t parent_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string stat;
  std::getline(file, stat);
  const auto name_end = stat.rfind(')');  // the name may hold anything
  if (name_end == std::string::npos || name_end + 4 > stat.size()) return 0;
  return static_cast<pid_t>(std::atoi(stat.c_str() + name_end + 4));
}

// This process and all it started: workers, and what a plugin's worker starts in turn.
bool is_ours(pid_t process) {
  for (const pid_t self = getpid(); process > 1; process = parent_of(process))
    if (process == self) return true;
  return false;
}

// While a turn runs, its worker is among them. Where it is not, the list numbers processes as
// another PID namespace does (a container's host), and nobody in it can be told apart.
bool others_among(const std::vector<pid_t>& processes) {
  const auto ours = std::ranges::count_if(processes, is_ours);
  return ours > 0 && ours < std::ssize(processes);
}

}  // namespace

std::unique_ptr<GpuMonitor> GpuMonitor::open(const std::string& uuid, std::string& why) {
  if (is_mig(uuid)) {
    why = "a MIG slice has no clock of its own";
    return nullptr;
  }
  auto nvml = Nvml::open(uuid, why);
  return std::unique_ptr<GpuMonitor>(nvml ? new GpuMonitor(std::move(nvml)) : nullptr);
}

Reading GpuMonitor::read() const {
  Reading reading;
  reading.clock_mhz = nvml_->clock_mhz(Nvml::Clock::multiprocessors);
  const std::uint64_t reasons = nvml_->clock_reasons().value_or(0);
  reading.idle = reasons & Nvml::idle;
  reading.power_capped = reasons & Nvml::power_cap;
  reading.slowed = reasons & (Nvml::hardware_slowdown | Nvml::thermal_slowdown |
                              Nvml::hardware_thermal_slowdown | Nvml::hardware_power_brake);
  if (const auto processes = nvml_->compute_processes())
    reading.contended = others_among(*processes);
  return reading;
}

void complete_from_driver(DeviceFacts& device) {
  if (device.uuid.empty()) return;
  std::string why;
  const auto nvml = Nvml::open(device.uuid, why);
  if (!nvml) return;
  device.driver = nvml->driver_version().value_or(device.driver);
  if (is_mig(device.uuid)) {
    device.name = nvml->name().value_or(device.name);
    return;
  }
  if (const auto mhz = nvml->highest_clock_mhz(Nvml::Clock::multiprocessors))
    device.clock_mhz = mhz;
  if (const auto mhz = nvml->highest_clock_mhz(Nvml::Clock::memory)) device.memory_clock_mhz = mhz;
  if (const auto watts = nvml->power_limit_w()) device.power_limit_w = watts;
  if (device.pci.empty()) device.pci = nvml->pci_bus_id().value_or("");
}

}  // namespace flashbench
