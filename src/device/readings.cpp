#include "device/readings.hpp"

#include <algorithm>

namespace flashbench {

namespace {

// Of the readings: what happens less often is left to the interval and to drift.
constexpr double notable_share = 0.2;
// Of the highest clock. Consumer cards name a highest clock that they reach to nine tenths.
constexpr double low_clock = 0.8;

// Those that saw the GPU at work, or all where none did.
std::vector<Reading> at_work(const std::vector<Reading>& all) {
  std::vector<Reading> busy;
  std::ranges::copy_if(all, std::back_inserter(busy), [](const Reading& r) { return !r.idle; });
  return busy.empty() ? all : busy;
}

std::optional<double> median_clock(const std::vector<Reading>& readings) {
  std::vector<double> clocks;
  for (const Reading& reading : readings)
    if (reading.clock_mhz) clocks.push_back(*reading.clock_mhz);
  if (clocks.empty()) return std::nullopt;
  std::ranges::sort(clocks);
  const std::size_t middle = clocks.size() / 2;
  return clocks.size() % 2 ? clocks[middle] : (clocks[middle - 1] + clocks[middle]) / 2;
}

bool notable(const std::vector<Reading>& readings, bool Reading::*what) {
  const auto count = std::ranges::count(readings, true, what);
  return static_cast<double>(count) >= notable_share * static_cast<double>(readings.size());
}

}  // namespace

void note_readings(Row& row, const std::vector<Reading>& all,
                   const std::optional<double>& highest_clock_mhz) {
  if (all.empty()) return;
  const std::vector<Reading> readings = at_work(all);
  const bool saw_work = !readings.front().idle;
  row.clock_mhz = median_clock(readings);
  const bool capped = notable(readings, &Reading::power_capped);
  const bool low = saw_work && row.clock_mhz && highest_clock_mhz &&
                   *row.clock_mhz < low_clock * *highest_clock_mhz;
  if (capped) row.flags.emplace_back("power_capped");
  if (notable(readings, &Reading::slowed) || (low && !capped)) row.flags.emplace_back("throttled");
  if (std::ranges::any_of(all, &Reading::contended)) {
    row.flags.emplace_back("contended");
    row.memory.device_bytes.reset();
  }
}

}  // namespace flashbench
