// The implementations of the CUDA worker, one line each.
#include "kernels/cuda/tiled_implementation.hpp"
#include "kernels/index.hpp"
#include "kernels/ladder/implementation.hpp"
#include "kernels/naive/forward.hpp"

namespace flashbench::kernels {

const FlashbenchPlugin& builtin() {
  static const FlashbenchImplementation implementations[] = {
      naive_cuda,
      tiled_implementation<v1_passes>("v1", "K/V outer, O carried through memory, warps along keys",
                                      "2.2, 4.1"),
      tiled_implementation<v2_passes>(
          "v2", "Q outer, normalised once, grid over Q, warps along queries", "2.3, 3, 4.2, 5"),
      rung_implementation<ladder[0].rung>(ladder[0]),
      rung_implementation<ladder[1].rung>(ladder[1]),
      rung_implementation<ladder[2].rung>(ladder[2]),
      rung_implementation<ladder[3].rung>(ladder[3]),
      rung_implementation<ladder[4].rung>(ladder[4]),
      rung_implementation<ladder[5].rung>(ladder[5]),
      rung_implementation<ladder[6].rung>(ladder[6]),
      rung_implementation<without[0].rung>(without[0]),
      rung_implementation<without[1].rung>(without[1]),
      rung_implementation<without[2].rung>(without[2]),
      rung_implementation<without[3].rung>(without[3]),
      rung_implementation<without[4].rung>(without[4]),
      rung_implementation<without[5].rung>(without[5]),
  };
  static const FlashbenchPlugin plugin{
      FLASHBENCH_ABI, FLASHBENCH_CUDA,
      static_cast<uint32_t>(sizeof implementations / sizeof implementations[0]), implementations};
  return plugin;
}

}  // namespace flashbench::kernels
