#include "kernels/flash_v2/implementation.hpp"

#include "kernels/cuda/tiled_implementation.hpp"
#include "kernels/flash_v2/passes.hpp"

namespace flashbench::kernels {
namespace {

constexpr TiledPasses passes{FLASHBENCH_FORWARD | FLASHBENCH_BACKWARD, flash_v2_forward,
                             &flash_v2_backward};

}  // namespace

FlashbenchImplementation FlashAttention2::cuda() {
  return tiled_implementation<passes>();
}

}  // namespace flashbench::kernels
