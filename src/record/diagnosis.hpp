// How small a difference a machine can resolve: the result of `flashbench doctor`.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "record/row.hpp"

namespace flashbench {

// The same code timed twice, over and over: how far its medians lie apart. All relative, 0.01 is
// 1 %.
struct Spread {
  std::size_t pairs = 0;
  double largest = 0;  // the largest difference of two medians
  // The smallest difference that the intervals of every pair would have told from none. Null where
  // a median has no interval.
  std::optional<double> resolved;
  std::size_t alarms = 0;  // pairs that compare would have called FASTER or SLOWER, at 5 %
};

// A row against itself.
struct Resolution {
  std::string name;  // "short", "long"
  Case what;
  std::optional<double> median_ms;   // of the medians of all repeats
  std::optional<double> half_width;  // likewise, relative; null where a repeat had no interval
  std::int64_t least_samples = 0;    // of the repeat with the fewest
  Spread same_rounds;                // in turn in one run, as speed-ups and --against rest on
  Spread other_runs;                 // in runs one after the other, as compare rests on
  std::optional<double> clock_mhz;   // of a GPU while it ran; null where it cannot be watched
  std::vector<std::string> flags;    // that a repeat raised
};

// What Linux says of the machine. Null: it does not say.
struct MachineState {
  std::int64_t cpus = 0;            // that this process may use
  std::optional<double> load;       // average of the last minute
  std::optional<double> busy;       // share of the CPUs' time just before measuring, 0...1
  std::optional<double> stolen;     // share that a hypervisor took while measuring, 0...1
  std::optional<double> cpu_quota;  // CPUs that the control group allows
  std::string governor;
  std::optional<bool> turbo;
  std::optional<double> clock_mhz, highest_clock_mhz;
};

struct Diagnosis {
  bool complete = true;  // false: interrupted, and of the repeats that had finished
  DeviceFacts device;
  std::string impl;
  std::int64_t repeats = 0;
  double time_budget_s = 0;
  MachineState machine;
  std::optional<double> timer_step_us;  // the smallest difference of two times seen
  std::optional<double> launch_gap_us;  // what a sample of the short row costs beside its time
  std::vector<Resolution> rows;
  std::vector<std::string> advice;  // a sentence a trouble
};

// flashbench.doctor/1: strict JSON with 2-space indent, ending in a newline.
std::string diagnosis_text(const Diagnosis&);

}  // namespace flashbench
