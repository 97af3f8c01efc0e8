// Datasheet peaks by the exact name that the driver reports. A name that is not listed (a MIG
// slice, another form factor) has no peak: a guess would be worse than none.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "record/row.hpp"

namespace flashbench {

struct Peak {
  double tflops = 0;  // dense 16-bit products with fp32 accumulation, TFLOPS (1e12)
  double gbps = 0;    // device memory, GB/s (1e9)
  std::string_view source;
};

std::optional<Peak> datasheet_peak(std::string_view device_name);
// Fills peak_tflops, peak_gbps and peak_source; what the user gives wins and is recorded as such.
void apply_peak(DeviceFacts&, const std::optional<double>& given_tflops = std::nullopt);

}  // namespace flashbench
