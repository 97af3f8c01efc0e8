// The front's eyes on a GPU.
#pragma once

#include <memory>
#include <string>

#include "device/nvml.hpp"
#include "device/readings.hpp"

namespace flashbench {

class GpuMonitor {
 public:
  // `uuid` as the driver prints it. Null, and why, where it cannot be watched: without a driver, or
  // a MIG slice, which has no clock of its own.
  static std::unique_ptr<GpuMonitor> open(const std::string& uuid, std::string& why);
  // Takes about a millisecond.
  Reading read() const;

 private:
  explicit GpuMonitor(std::unique_ptr<Nvml> nvml) : nvml_(std::move(nvml)) {}
  std::unique_ptr<Nvml> nvml_;
};

// What a worker cannot know of its GPU: driver, highest clocks, power limit, and the PCI address
// where it gave none. Of a MIG slice the driver, and the name with its profile. Leaves alone what
// the driver does not tell.
void complete_from_driver(DeviceFacts&);

}  // namespace flashbench
