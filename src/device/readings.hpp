// What was read of a GPU while a row's turns ran, and what that says of the row. Pure.
#pragma once

#include <optional>
#include <vector>

#include "record/row.hpp"

namespace flashbench {

// One look at a GPU. What it would not tell is null or false.
struct Reading {
  std::optional<double> clock_mhz;  // of the multiprocessors
  bool idle = false;                // nothing ran on it just then: the clock tells nothing
  bool power_capped = false;        // the power limit held the clock down
  bool slowed = false;              // heat or the supply of power held it down
  bool contended = false;           // a process that is not this run's was on it
};

// Sets clock_mhz (the median) and the flags power_capped, throttled and contended. Without a
// reading of clocks clock_mhz stays null; a clock far below `highest_clock_mhz` that no power limit
// explains is throttled. Null where others were on the GPU: memory.device_bytes, which is theirs
// too.
void note_readings(Row&, const std::vector<Reading>&,
                   const std::optional<double>& highest_clock_mhz);

}  // namespace flashbench
