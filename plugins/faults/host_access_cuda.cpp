#include <cuda_runtime_api.h>

#include "kernels/cuda/error.hpp"
#include "plugins/faults/host_access.hpp"

namespace flashbench::faults {

namespace {

void copy(void* to, const void* from, std::int64_t bytes, cudaMemcpyKind kind, void* stream) {
  const auto where = static_cast<cudaStream_t>(stream);
  FLASHBENCH_CUDA(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), kind, where));
  FLASHBENCH_CUDA(cudaStreamSynchronize(where));
}

}  // namespace

void to_host(void* host, const void* memory, std::int64_t bytes, void* stream) {
  copy(host, memory, bytes, cudaMemcpyDeviceToHost, stream);
}

void from_host(void* memory, const void* host, std::int64_t bytes, void* stream) {
  copy(memory, host, bytes, cudaMemcpyHostToDevice, stream);
}

}  // namespace flashbench::faults
