// NVML, the driver's library of readings, opened at run time: to build and to start, neither its
// header nor the library is needed. Nothing outside this folder knows of it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace flashbench {

// One device, found by UUID: NVML counts devices in another order than CUDA.
class Nvml {
 public:
  // Null, and why, where there is no driver or it knows no such device. The environment variable
  // FLASHBENCH_NVML names another library than the driver's.
  static std::unique_ptr<Nvml> open(const std::string& uuid, std::string& why);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  // What a driver does not know or refuses (a MIG slice, a virtual machine) has no answer.
  std::optional<std::string> driver_version() const;
  std::optional<std::string> name() const;
  std::optional<std::string> pci_bus_id() const;
  enum class Clock : unsigned { multiprocessors = 1, memory = 2 };
  std::optional<double> clock_mhz(Clock) const;
  std::optional<double> highest_clock_mhz(Clock) const;
  std::optional<double> power_limit_w() const;  // the one that is enforced
  // Why clocks are lower than they might be: a sum of ClockReason.
  enum ClockReason : std::uint64_t {
    idle = 0x1,
    power_cap = 0x4,
    hardware_slowdown = 0x8,
    thermal_slowdown = 0x20,
    hardware_thermal_slowdown = 0x40,
    hardware_power_brake = 0x80
  };
  std::optional<std::uint64_t> clock_reasons() const;
  // Processes that have a compute context on it.
  std::optional<std::vector<pid_t>> compute_processes() const;

 private:
  explicit Nvml(void* library) : library_(library) {}
  // Calls the function of that name, whose parameters are those of the arguments: each must have
  // the type that NVML declares. Returns NVML's code.
  template <class... Arguments>
  int call(const char* function, Arguments... arguments) const;
  std::string sentence(int code) const;
  template <std::size_t Size, class... Arguments>
  std::optional<std::string> text(const char* function, Arguments... before) const;

  void* library_;
  bool started_ = false;
  void* device_ = nullptr;
};

}  // namespace flashbench
