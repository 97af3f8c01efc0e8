// What Linux says of the machine that a measurement shares with others.
#pragma once

#include <optional>
#include <string>

#include "record/diagnosis.hpp"

namespace flashbench {

// Time that all CPUs together have spent since the machine started, in clock ticks.
struct CpuTimes {
  double busy = 0, stolen = 0, total = 0;
};

// `root` stands before /proc and /sys, so that a test may have its own.
MachineState read_machine(const std::string& root = "");
std::optional<CpuTimes> read_cpu_times(const std::string& root = "");
// Shares of the time between two readings, 0...1; null where the clock stood still.
std::optional<double> busy_share(const CpuTimes& before, const CpuTimes& after);
std::optional<double> stolen_share(const CpuTimes& before, const CpuTimes& after);

}  // namespace flashbench
