// The figures of the source document, by section: for columns and claims that are labelled as its
// own. Nothing that is measured here is computed from them.
#pragma once

#include <array>
#include <cstdint>

namespace flashbench::document {

// Of a device's peak, 0...1.
struct Span {
  double low, high;
};
inline constexpr Span v1_utilization{0.25, 0.40};  // 1.1, summary
inline constexpr Span v2_utilization{0.50, 0.73};  // summary
inline constexpr double a100_peak_tflops = 312, a100_gbps = 2000, a100_shared_kib = 164;  // 1.2

// 8.1, on an A100. It names neither batch, heads, head dimension, mask nor pass. Its V1 column is
// 40 to 45 % of 312 TFLOPS, which its own 25 to 40 % do not allow.
struct Throughput {
  std::int64_t seq;
  double v1_tflops, v2_tflops, v2_utilization;
};
inline constexpr std::array<Throughput, 4> throughput{{{1024, 124, 196, 0.63},
                                                       {2048, 136, 218, 0.70},
                                                       {4096, 141, 227, 0.73},
                                                       {8192, 138, 222, 0.71}}};
inline constexpr double v2_over_v1 = 1.6;

// 8.2, on an A100-80GB at 2048 tokens and head dimension 128: times as fast as PyTorch's standard
// attention. `impl` is what computes it here.
struct Relative {
  const char *name, *impl;
  double forward, backward;
};
inline constexpr std::array<Relative, 4> relative{
    {{"PyTorch standard", "pytorch-math", 1.0, 1.0},
     {"FlashAttention V1", "v1", 2.8, 2.5},
     {"FlashAttention V2", "v2", 4.3, 3.9},
     {"xFormers (cutlass)", "pytorch-efficient", 3.1, 2.8}}};
inline constexpr std::int64_t relative_seq = 2048, relative_head_dim = 128;

// 8.3: activations and gradient buffers of training, MiB, "rough multi-head config".
struct Memory {
  std::int64_t seq;
  double standard_mib, v2_mib;
};
inline constexpr std::array<Memory, 3> memory{
    {{4096, 128, 4}, {16384, 2048, 16}, {65536, 32768, 64}}};

}  // namespace flashbench::document
