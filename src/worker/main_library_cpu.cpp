// libflashbench-worker-cpu.so.
#include "flashbench/worker.h"
#include "worker/backend_cpu.hpp"
#include "worker/serve_plugin.hpp"

int flashbench_serve(const FlashbenchPlugin* plugin, const char* name, int descriptor) {
  flashbench::CpuBackend backend;
  return flashbench::serve_plugin(plugin, name, FLASHBENCH_CPU, backend, descriptor);
}
