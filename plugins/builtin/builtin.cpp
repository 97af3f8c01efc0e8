// The built-in implementations as a plugin. Timed beside the built-in ones they show that a plugin
// is timed alike:
//
//   flashbench --plugin build/bin/flashbench-builtin-cuda.so --impl v2 --seq 4k
#include "kernels/index.hpp"

const FlashbenchPlugin* flashbench_plugin(void) {
  return &flashbench::kernels::builtin();
}
