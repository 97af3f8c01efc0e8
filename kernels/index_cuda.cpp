// The implementations of the CUDA worker, one line each.
#include "kernels/cuda/tiled_implementation.hpp"
#include "kernels/index.hpp"
#include "kernels/naive/forward.hpp"

namespace flashbench::kernels {

const FlashbenchPlugin& builtin() {
  static const FlashbenchImplementation implementations[] = {
      naive_cuda,
      tiled_implementation<v1_passes>("v1", "K/V outer, O carried through memory, warps along keys",
                                      "2.2, 4.1"),
      tiled_implementation<v2_passes>(
          "v2", "Q outer, normalised once, grid over Q, warps along queries", "2.3, 3, 4.2, 5"),
      tiled_implementation<without_warps_along_q_passes>(
          "without/warps-along-q", "v2 with the warps along keys and their exchange", "4"),
  };
  static const FlashbenchPlugin plugin{
      FLASHBENCH_ABI, FLASHBENCH_CUDA,
      static_cast<uint32_t>(sizeof implementations / sizeof implementations[0]), implementations};
  return plugin;
}

}  // namespace flashbench::kernels
