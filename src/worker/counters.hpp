// The hardware counters of a GPU. They are read in passes of their own: nothing is timed meanwhile.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace flashbench {

class HardwareCounters {
 public:
  using Values = std::map<std::string, std::optional<double>>;
  virtual ~HardwareCounters() = default;
  // The metrics' values over one `run`, which ends when the GPU has done all of it. Where the chip
  // cannot count all at once, there are several: `before` comes before each and is not counted.
  // A metric that the chip does not know has no value. Throws Refusal where counting fails.
  virtual Values count(const std::vector<std::string>& metrics, const std::function<void()>& before,
                       const std::function<void()>& run) = 0;
};

// Of the CUDA device of that ordinal, whose context is the current one. Throws Refusal
// (unsupported): what stands in the way in a few words, a colon, and what can be done about it.
std::unique_ptr<HardwareCounters> open_counters(int ordinal);

}  // namespace flashbench
