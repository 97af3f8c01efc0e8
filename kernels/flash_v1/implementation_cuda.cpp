#include "kernels/flash_v1/implementation.hpp"

#include "kernels/cuda/tiled_implementation.hpp"
#include "kernels/flash_v1/passes.hpp"

namespace flashbench::kernels {
namespace {

constexpr TiledPasses passes{FLASHBENCH_FORWARD | FLASHBENCH_BACKWARD, flash_v1_forward,
                             &flash_v1_backward};

}  // namespace

FlashbenchImplementation FlashAttention1::cuda() {
  return tiled_implementation<passes>();
}

}  // namespace flashbench::kernels
