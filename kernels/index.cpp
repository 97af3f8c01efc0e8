// The CPU column: one line an implementation.
#include "kernels/index.hpp"

#include <iterator>

#include "kernels/cpu/adapter.hpp"
#include "kernels/flash_v1/cpu.hpp"
#include "kernels/flash_v2/cpu.hpp"
#include "kernels/naive/cpu.hpp"

namespace flashbench::kernels {

const FlashbenchPlugin& builtin() {
  static const FlashbenchImplementation rows[] = {
      cpu::Adapter<cpu::Naive>::implementation(),
      cpu::Adapter<cpu::FlashV1>::implementation(),
      cpu::Adapter<cpu::FlashV2>::implementation(),
  };
  static const FlashbenchPlugin plugin = {FLASHBENCH_ABI, FLASHBENCH_CPU,
                                          static_cast<uint32_t>(std::size(rows)), rows};
  return plugin;
}

}  // namespace flashbench::kernels
