#include "kernels/cpu/kernel.hpp"

namespace flashbench::kernels::cpu {

FlashbenchLaunch launch_of(const char* kernel, int threads, int64_t blocks, int64_t bytes) {
  FlashbenchLaunch launch{};
  launch.kernel = kernel;
  launch.registers = -1;
  launch.spilled_bytes = -1;
  launch.threads = 1;
  launch.shared_bytes = bytes;
  launch.blocks = blocks;
  launch.blocks_per_multiprocessor = 1;
  launch.waves = static_cast<double>(blocks) / threads;
  return launch;
}

}  // namespace flashbench::kernels::cpu
