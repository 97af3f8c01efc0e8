// What the two bench programs share: a timer, and tensors of 16384 tokens a batch and hidden size
// 2048.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/cuda_case.hpp"

namespace flashbench::tests {

// Of events around run(), which goes to the default stream.
template <class Run>
double median_ms(Run run, float budget_ms = 150) {
  std::vector<cudaEvent_t> events(2);
  for (auto& e : events) FLASHBENCH_CUDA(cudaEventCreate(&e));
  std::vector<float> times;
  float spent = 0;
  for (int i = 0; i < 2; ++i) run();
  for (int i = 0; i < 25 && (i < 3 || spent < budget_ms); ++i) {
    FLASHBENCH_CUDA(cudaEventRecord(events[0]));
    run();
    FLASHBENCH_CUDA(cudaEventRecord(events[1]));
    FLASHBENCH_CUDA(cudaEventSynchronize(events[1]));
    float ms = 0;
    FLASHBENCH_CUDA(cudaEventElapsedTime(&ms, events[0], events[1]));
    times.push_back(ms);
    spent += ms;
  }
  for (auto& e : events) cudaEventDestroy(e);
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

inline FlashbenchProblem bench_problem(std::int64_t d, std::int64_t s, bool causal,
                                       uint32_t passes) {
  FlashbenchProblem p{};
  p.batch = 16384 / s, p.query_heads = p.kv_heads = 2048 / d, p.seq_q = p.seq_k = s, p.head_dim = d;
  p.dtype = FLASHBENCH_BF16;
  p.mask = causal ? FLASHBENCH_CAUSAL : FLASHBENCH_FULL;
  p.passes = passes;
  p.scale = 1 / std::sqrt(static_cast<double>(d));
  p.alignment = 256;
  return p;
}
inline FlashbenchTensor bench_view(const DeviceMemory& memory, std::int64_t d, std::int64_t s) {
  return {memory.as<void>(), s * 2048, 2048, d};
}

struct Inputs {
  static constexpr std::int64_t elements = 16384 * 2048;
  DeviceMemory q{elements * 2}, k{elements * 2}, v{elements * 2}, o{elements * 2},
      lse{16384 * 32 * 4}, m{16384 * 32 * 4}, l{16384 * 32 * 4};

  Inputs() { draw({&q, &k, &v}, 1); }

  static void draw(std::initializer_list<DeviceMemory*> tensors, std::uint32_t seed) {
    for (DeviceMemory* memory : tensors) {
      std::vector<std::uint16_t> some(1000003);
      auto draw = normal(seed++);
      for (auto& bits : some) bits = to_bits(FLASHBENCH_BF16, draw(0, 0, 0, 0));
      for (std::size_t at = 0; at < elements; at += some.size())
        FLASHBENCH_CUDA(cudaMemcpy(memory->as<std::uint16_t>() + at, some.data(),
                                   std::min(some.size(), elements - at) * 2,
                                   cudaMemcpyHostToDevice));
    }
  }
};

}  // namespace flashbench::tests
