// The CPU column: one line an implementation.
#include "kernels/index.hpp"

#include <iterator>

#include "kernels/cpu/implementations.hpp"

namespace flashbench::kernels {

const FlashbenchPlugin& builtin() {
  static const FlashbenchImplementation rows[] = {
      cpu::naive(),
      cpu::v1(),
      cpu::v2(),
  };
  static const FlashbenchPlugin plugin = {FLASHBENCH_ABI, FLASHBENCH_CPU,
                                          static_cast<uint32_t>(std::size(rows)), rows};
  return plugin;
}

}  // namespace flashbench::kernels
