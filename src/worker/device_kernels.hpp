// The kernels that libflashbench-worker itself runs on a GPU: none of them is ever timed.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace flashbench {

// Each enqueues on the stream and returns what the launch said.

// Keeps one thread of the GPU busy for this many of its clock cycles.
cudaError_t enqueue_delay(std::int64_t cycles, cudaStream_t stream);
// Reads `bytes` (a multiple of 16) past L1, so that L2 then holds nothing else. `sink`: 4 bytes
// that are never written.
cudaError_t enqueue_read(const void* data, std::int64_t bytes, unsigned* sink, int multiprocessors,
                         cudaStream_t stream);
// Adds a hash of `bytes` at `data` (8-byte aligned) to *sum, which starts at 0. An integer sum over
// mixed words and their places: the same for any number of threads.
cudaError_t enqueue_hash(const void* data, std::int64_t bytes, unsigned long long* sum,
                         int multiprocessors, cudaStream_t stream);

}  // namespace flashbench
