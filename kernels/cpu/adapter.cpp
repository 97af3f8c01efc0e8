#include "kernels/cpu/adapter.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdio>
#include <limits>
#include <thread>

namespace flashbench::kernels::cpu {

int thread_count(const FlashbenchDevice& device) {
  if (device.multiprocessors > 0) return device.multiprocessors;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

FlashbenchStatus say(FlashbenchStatus status, FlashbenchMessage* message, const char* text) {
  if (message) std::snprintf(message->text, sizeof message->text, "%s", text);
  return status;
}

FlashbenchStatus supported(const FlashbenchProblem& problem, const FlashbenchDevice& device,
                           FlashbenchMessage* message) {
  const auto refuse = [&](const char* text) { return say(FLASHBENCH_UNSUPPORTED, message, text); };
  if (device.backend != FLASHBENCH_CPU) return refuse("this kernel runs on the CPU only");
  if (problem.head_dim < 8 || problem.head_dim > 256 || problem.head_dim % 8 != 0) {
    char text[128];
    std::snprintf(text, sizeof text,
                  "head_dim %lld: the CPU kernels support multiples of 8 from 8 to 256",
                  static_cast<long long>(problem.head_dim));
    return refuse(text);
  }
  if (problem.batch < 0 || problem.seq_q < 0 || problem.seq_k < 0 || problem.query_heads < 1 ||
      problem.kv_heads < 1)
    return refuse("batch and lengths must be at least 0, heads at least 1");
  if (problem.query_heads % problem.kv_heads != 0)
    return refuse("kv_heads must divide query_heads");
  if (!(std::abs(problem.scale) <= FLT_MAX)) return refuse("scale must be a finite fp32 number");
  constexpr int64_t kLongest = std::numeric_limits<int32_t>::max();  // an index of OpenBLAS
  if (problem.seq_q > kLongest || problem.seq_k > kLongest)
    return refuse("sequences are supported up to 2^31 - 1");
  const double scores = static_cast<double>(problem.batch) *
                        static_cast<double>(problem.query_heads) *
                        static_cast<double>(problem.seq_q) * static_cast<double>(problem.seq_k);
  if (scores > 0x1p58) return refuse("more than 2^58 scores");
  return FLASHBENCH_OK;
}

void add(FlashbenchCost& a, const FlashbenchCost& b) {
  for (uint32_t i = 0; i < b.kernel_count; ++i) a.kernels[a.kernel_count++] = b.kernels[i];
  a.workspace_bytes = std::max(a.workspace_bytes, b.workspace_bytes);
}

}  // namespace flashbench::kernels::cpu
