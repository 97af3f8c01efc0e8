#include "worker/device_kernels.hpp"
#include "worker/hash.hpp"

namespace flashbench {
namespace {

constexpr int threads = 256, blocks_per_multiprocessor = 8;

__global__ void delay(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

__global__ void __launch_bounds__(threads)
    read(const uint4* data, std::int64_t count, unsigned* sink) {
  unsigned seen = 0;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * threads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x; i < count;
       i += step) {
    const uint4 x = __ldcg(data + i);
    seen |= x.x | x.y | x.z | x.w;
  }
  if (seen == 0xffffffffu) *sink = seen;  // what the buffer holds never makes it so
}

// The word at `index`, of which only `bytes` may be read.
__device__ std::uint64_t word(const unsigned char* data, std::int64_t index, std::int64_t bytes) {
  const std::int64_t first = index * 8;
  if (first + 8 <= bytes) return *reinterpret_cast<const std::uint64_t*>(data + first);
  std::uint64_t value = 0;
  for (std::int64_t i = first; i < bytes; ++i)
    value |= static_cast<std::uint64_t>(data[i]) << (8 * (i - first));
  return value;
}

__global__ void __launch_bounds__(threads)
    hash(const unsigned char* data, std::int64_t bytes, unsigned long long* sum) {
  const std::int64_t words = (bytes + 7) / 8, step = static_cast<std::int64_t>(gridDim.x) * threads;
  std::uint64_t mine = 0;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x; i < words;
       i += step)
    mine += mix(word(data, i, bytes) ^ mix(static_cast<std::uint64_t>(i) + 1));
  for (int lane = 16; lane > 0; lane /= 2) mine += __shfl_xor_sync(0xffffffffu, mine, lane);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, static_cast<unsigned long long>(mine));
}

}  // namespace

cudaError_t enqueue_delay(std::int64_t cycles, cudaStream_t stream) {
  delay<<<1, 1, 0, stream>>>(cycles);
  return cudaGetLastError();
}

cudaError_t enqueue_read(const void* data, std::int64_t bytes, unsigned* sink, int multiprocessors,
                         cudaStream_t stream) {
  read<<<multiprocessors * blocks_per_multiprocessor, threads, 0, stream>>>(
      static_cast<const uint4*>(data), bytes / 16, sink);
  return cudaGetLastError();
}

cudaError_t enqueue_hash(const void* data, std::int64_t bytes, unsigned long long* sum,
                         int multiprocessors, cudaStream_t stream) {
  hash<<<multiprocessors * blocks_per_multiprocessor, threads, 0, stream>>>(
      static_cast<const unsigned char*>(data), bytes, sum);
  return cudaGetLastError();
}

}  // namespace flashbench
