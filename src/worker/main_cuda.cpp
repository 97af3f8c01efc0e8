// flashbench-worker-cuda --descriptor N: the built-in CUDA implementations, served.
#include <cstdio>

#include "kernels/index.hpp"
#include "worker/answer.hpp"
#include "worker/backend_cuda.hpp"
#include "worker/serve.hpp"

int main(int argc, char** argv) {
  const std::optional<int> descriptor = flashbench::descriptor_argument(argc, argv);
  if (!descriptor) {
    std::fputs("flashbench-worker-cuda: started by flashbench, with --descriptor N\n", stderr);
    return 2;
  }
  flashbench::send_stdout_to_stderr();
  flashbench::CudaBackend backend;
  return flashbench::serve(flashbench::kernels::builtin(), flashbench::kernels::ceilings(), backend,
                           *descriptor);
}
