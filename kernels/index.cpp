#include "kernels/index.hpp"

#include <iterator>

#ifdef FLASHBENCH_CUDA_KERNELS
#include "kernels/cuda/implementations.hpp"
#else
#include "kernels/cpu/implementations.hpp"
#endif

namespace flashbench::kernels {

#ifdef FLASHBENCH_CUDA_KERNELS
namespace column = cuda;
constexpr FlashbenchBackend kBackend = FLASHBENCH_CUDA;
#else
namespace column = cpu;
constexpr FlashbenchBackend kBackend = FLASHBENCH_CPU;
#endif

const FlashbenchPlugin& builtin() {
  static const FlashbenchImplementation rows[] = {
      column::naive(),
      column::v1(),
      column::v2(),
  };
  static const FlashbenchPlugin plugin = {FLASHBENCH_ABI, kBackend,
                                          static_cast<uint32_t>(std::size(rows)), rows};
  return plugin;
}

}  // namespace flashbench::kernels
