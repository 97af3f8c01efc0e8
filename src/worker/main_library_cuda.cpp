// libflashbench-worker-cuda.so.
#include "flashbench/worker.h"
#include "worker/backend_cuda.hpp"
#include "worker/serve_plugin.hpp"

int flashbench_serve(const FlashbenchPlugin* plugin, const char* name, int descriptor) {
  flashbench::CudaBackend backend;
  return flashbench::serve_plugin(plugin, name, FLASHBENCH_CUDA, backend, descriptor);
}
