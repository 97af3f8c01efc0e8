// A device for what is asked without one: costs, refusals, which kernels would be launched.
#pragma once

#include <cstdint>

#include "flashbench/attention.h"

namespace flashbench::tests {

// An H100 of 80 GB; of an H200 the memory alone is another.
inline FlashbenchDevice hopper() {
  FlashbenchDevice device{};
  device.backend = FLASHBENCH_CUDA;
  device.compute_capability = 90;
  device.multiprocessors = 132;
  device.shared_bytes_per_block = 232448;
  device.shared_bytes_per_multiprocessor = 233472;
  device.l2_bytes = std::int64_t{50} << 20;
  device.memory_bytes = std::int64_t{80} << 30;
  return device;
}

}  // namespace flashbench::tests
