// One forward problem on the GPU: its tensors with guards around every row, the reference's answer,
// and the comparison of an implementation's output with it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "judge/reference_cuda.hpp"
#include "kernels/cuda/memory.hpp"
#include "kernels/index.hpp"

namespace flashbench::tests {

using kernels::DeviceMemory;

inline FlashbenchDevice this_device() {
  cudaDeviceProp p{};
  FLASHBENCH_CUDA(cudaGetDeviceProperties(&p, 0));
  FlashbenchDevice d{};
  d.backend = FLASHBENCH_CUDA;
  d.compute_capability = 10 * p.major + p.minor;
  d.multiprocessors = p.multiProcessorCount;
  d.shared_bytes_per_block = static_cast<std::int64_t>(p.sharedMemPerBlockOptin);
  d.shared_bytes_per_multiprocessor = static_cast<std::int64_t>(p.sharedMemPerMultiprocessor);
  d.l2_bytes = p.l2CacheSize;
  d.memory_bytes = static_cast<std::int64_t>(p.totalGlobalMem);
  return d;
}

inline std::uint16_t to_bits(FlashbenchDtype dtype, float x) {
  std::uint16_t bits;
  if (dtype == FLASHBENCH_FP16) {
    const __half h = __float2half_rn(x);
    std::memcpy(&bits, &h, 2);
  } else {
    const __nv_bfloat16 h = __float2bfloat16_rn(x);
    std::memcpy(&bits, &h, 2);
  }
  return bits;
}
inline float from_bits(FlashbenchDtype dtype, std::uint16_t bits) {
  if (dtype == FLASHBENCH_FP16) {
    __half h;
    std::memcpy(static_cast<void*>(&h), &bits, 2);
    return __half2float(h);
  }
  __nv_bfloat16 h;
  std::memcpy(static_cast<void*>(&h), &bits, 2);
  return __bfloat162float(h);
}

enum class Padding { bshd, bhsd, gaps };
using Value = std::function<float(std::int64_t b, std::int64_t s, std::int64_t h, std::int64_t x)>;

// A (b, s, h, d) tensor on the device, NaN wherever it has no element: between rows and behind it.
class Tensor {
 public:
  Tensor(FlashbenchDtype dtype, std::int64_t b, std::int64_t s, std::int64_t h, std::int64_t d,
         Padding padding)
      : dtype_(dtype), b_(b), s_(s), h_(h), d_(d) {
    const std::int64_t row = d + (padding == Padding::gaps ? 8 : 0);
    view_.head = padding == Padding::bhsd ? s * row : row;
    view_.seq = padding == Padding::bhsd ? row : h * row + (padding == Padding::gaps ? 24 : 0);
    view_.batch = padding == Padding::bhsd ? h * s * row : s * view_.seq;
    host_.assign(static_cast<std::size_t>(b * std::max(view_.batch, s * h * row) + 200 * view_.seq),
                 0xffff);
    memory_ = DeviceMemory(host_.size() * 2);
    view_.data = memory_.as<void>();
    poison();
  }
  void poison() { FLASHBENCH_CUDA(cudaMemset(view_.data, 0xff, memory_.bytes())); }
  void fill(const Value& value) {
    each([&](std::int64_t b, std::int64_t s, std::int64_t h, std::int64_t x, std::size_t at) {
      host_[at] = to_bits(dtype_, value(b, s, h, x));
    });
    FLASHBENCH_CUDA(cudaMemcpy(view_.data, host_.data(), memory_.bytes(), cudaMemcpyHostToDevice));
  }
  void download() {
    FLASHBENCH_CUDA(cudaMemcpy(host_.data(), view_.data, memory_.bytes(), cudaMemcpyDeviceToHost));
  }
  float at(std::int64_t b, std::int64_t s, std::int64_t h, std::int64_t x) const {
    return from_bits(dtype_, host_[offset(b, s, h, x)]);
  }
  // Whether anything but elements was written; call after download().
  bool guards_hold() const {
    std::vector<bool> element(host_.size());
    each([&](auto, auto, auto, auto, std::size_t at) { element[at] = true; });
    for (std::size_t i = 0; i < host_.size(); ++i)
      if (!element[i] && host_[i] != 0xffff) return false;
    return true;
  }
  const FlashbenchTensor& view() const { return view_; }
  // Of all its memory; call after download().
  const std::vector<std::uint16_t>& bits() const { return host_; }
  std::int64_t bytes() const { return static_cast<std::int64_t>(memory_.bytes()); }

 private:
  std::size_t offset(std::int64_t b, std::int64_t s, std::int64_t h, std::int64_t x) const {
    return static_cast<std::size_t>(b * view_.batch + s * view_.seq + h * view_.head + x);
  }
  template <class F>
  void each(F f) const {
    for (std::int64_t b = 0; b < b_; ++b)
      for (std::int64_t s = 0; s < s_; ++s)
        for (std::int64_t h = 0; h < h_; ++h)
          for (std::int64_t x = 0; x < d_; ++x) f(b, s, h, x, offset(b, s, h, x));
  }
  FlashbenchDtype dtype_;
  std::int64_t b_, s_, h_, d_;
  FlashbenchTensor view_{};
  std::vector<std::uint16_t> host_;
  DeviceMemory memory_;
};

inline Value normal(std::uint32_t seed, float deviation = 1) {
  auto engine = std::make_shared<std::mt19937>(seed);
  auto draw = std::make_shared<std::normal_distribution<float>>(0.0f, deviation);
  return [=](auto, auto, auto, auto) { return (*draw)(*engine); };
}
inline Value constant(float x) {
  return [=](auto, auto, auto, auto) { return x; };
}

struct Verdict {
  std::string trouble;  // empty: right
  double ratio = 0;     // worst block's error over the comparator's
  double lse = 0;       // worst relative error of LSE
};

class Case {
 public:
  FlashbenchProblem p{};
  Tensor q, k, v, o;

  Case(FlashbenchProblem problem, Padding padding)
      : p(problem),
        q(p.dtype, p.batch, p.seq_q, p.query_heads, p.head_dim, padding),
        k(p.dtype, p.batch, p.seq_k, p.kv_heads, p.head_dim, padding),
        v(p.dtype, p.batch, p.seq_k, p.kv_heads, p.head_dim, padding),
        o(p.dtype, p.batch, p.seq_q, p.query_heads, p.head_dim, padding),
        rows_(static_cast<std::size_t>(p.batch * p.query_heads * p.seq_q)) {}

  void inputs(const Value& q_, const Value& k_, const Value& v_) {
    q.fill(q_), k.fill(k_), v.fill(v_);
    reference_o.resize(rows_ * static_cast<std::size_t>(p.head_dim));
    comparator.resize(reference_o.size());
    reference_lse.resize(rows_);
    if (rows_ == 0) return;
    DeviceMemory o64(reference_o.size() * 8), lse64(rows_ * 8), c32(comparator.size() * 4);
    FlashbenchMessage message{};
    if (judge::reference_forward(p, arguments(nullptr, 0),
                                 {o64.as<double>(), lse64.as<double>(), nullptr, c32.as<float>()},
                                 nullptr, &message) != FLASHBENCH_OK)
      throw std::runtime_error(message.text);
    get(reference_o, o64), get(reference_lse, lse64), get(comparator, c32);
  }

  // Runs an implementation twice on a stream of its own, outputs poisoned, and judges the second.
  Verdict run(const FlashbenchImplementation& impl, const FlashbenchDevice& device) {
    FlashbenchMessage message{};
    FlashbenchCost cost{};
    if (impl.cost(&p, &device, FLASHBENCH_FORWARD, &cost, &message) != FLASHBENCH_OK)
      return {std::string("unsupported: ") + message.text, 0, 0};
    DeviceMemory workspace(static_cast<std::size_t>(cost.workspace_bytes) + 256);
    FLASHBENCH_CUDA(cudaMemset(workspace.as<void>(), 0xff, workspace.bytes()));
    FlashbenchInstance instance{};
    if (impl.create(&p, &device, workspace.as<void>(), &instance, &message) != FLASHBENCH_OK)
      return {std::string("create: ") + message.text, 0, 0};
    cudaStream_t stream;
    FLASHBENCH_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    DeviceMemory statistics(3 * rows_ * 4 + 4);
    Verdict verdict;
    std::vector<std::vector<float>> lse_of_run(2);
    for (auto& lse : lse_of_run) {
      o.poison();
      FLASHBENCH_CUDA(cudaMemset(statistics.as<void>(), 0xff, statistics.bytes()));
      FLASHBENCH_CUDA(cudaDeviceSynchronize());
      const FlashbenchForward f = arguments(statistics.as<float>(), cost.saves);
      if (impl.forward(instance.state, &f, stream, &message) != FLASHBENCH_OK)
        verdict.trouble = std::string("forward: ") + message.text;
      if (const cudaError_t error = cudaDeviceSynchronize(); error != cudaSuccess)
        throw std::runtime_error(std::string(impl.name) + ": " + cudaGetErrorString(error));
      lse = saved_lse(statistics, cost.saves);
    }
    impl.destroy(instance.state);
    FLASHBENCH_CUDA(cudaStreamDestroy(stream));
    if (verdict.trouble.empty()) judge(verdict, lse_of_run, std::strcmp(impl.name, "naive") == 0);
    return verdict;
  }

  std::vector<double> reference_o, reference_lse;
  std::vector<float> comparator, last_lse;
  double slack = 0;  // allowed beside the rule

 private:
  FlashbenchForward arguments(float* statistics, uint32_t saves) const {
    FlashbenchForward f{q.view(), k.view(), v.view(), o.view(), nullptr, nullptr, nullptr};
    if (saves & FLASHBENCH_SAVES_LSE) f.lse = statistics;
    if (saves & FLASHBENCH_SAVES_M_AND_L) f.m = statistics + rows_, f.l = statistics + 2 * rows_;
    return f;
  }
  template <class T>
  static void get(std::vector<T>& host, const DeviceMemory& device) {
    FLASHBENCH_CUDA(cudaMemcpy(host.data(), device.as<void>(), host.size() * sizeof(T),
                               cudaMemcpyDeviceToHost));
  }
  std::vector<float> saved_lse(const DeviceMemory& statistics, uint32_t saves) const {
    std::vector<float> all(3 * rows_);
    if (rows_ > 0) get(all, statistics);
    std::vector<float> lse(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(rows_));
    if (saves & FLASHBENCH_SAVES_M_AND_L)
      for (std::size_t r = 0; r < rows_; ++r)
        lse[r] = all[rows_ + r] + std::log(all[2 * rows_ + r]);
    return lse;
  }
  void judge(Verdict& verdict, const std::vector<std::vector<float>>& lse, bool naive);

  std::size_t rows_;
};

// A 64-row block passes within twice the comparator's own error. The naive baseline rounds S to 16
// bits, which the comparator does not; it is allowed what that costs.
inline void Case::judge(Verdict& verdict, const std::vector<std::vector<float>>& lse, bool naive) {
  last_lse = lse[1];
  o.download();
  if (!o.guards_hold()) verdict.trouble = "wrote outside O";
  if (std::memcmp(lse[0].data(), lse[1].data(), rows_ * 4) != 0)
    verdict.trouble = "LSE not repeatable";
  double largest_v = 0;
  const double unit = p.dtype == FLASHBENCH_FP16 ? 1.0 / 1024 : 1.0 / 128;
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t h = 0; h < p.query_heads; ++h) {
      for (std::int64_t s = 0; s < p.seq_k; ++s)
        largest_v =
            std::max(largest_v,
                     std::fabs(static_cast<double>(v.at(b, s, h * p.kv_heads / p.query_heads, 0))));
      for (std::int64_t first = 0; first < p.seq_q; first += 64) {
        double error = 0, allowed = 0;
        for (std::int64_t s = first; s < std::min(first + 64, p.seq_q); ++s) {
          const auto row = static_cast<std::size_t>((b * p.query_heads + h) * p.seq_q + s);
          for (std::int64_t x = 0; x < p.head_dim; ++x) {
            const auto at =
                row * static_cast<std::size_t>(p.head_dim) + static_cast<std::size_t>(x);
            const double e = std::fabs(o.at(b, s, h, x) - reference_o[at]);
            error = e <= error ? error : e;  // NaN stays
            allowed = std::max(allowed, std::fabs(comparator[at] - reference_o[at]));
          }
          const double want = reference_lse[row], got = last_lse[row];
          const double off =
              want == got ? 0 : std::fabs(want - got) / std::max(1.0, std::fabs(want));
          verdict.lse = off <= verdict.lse ? verdict.lse : off;
          if (!(off <= (naive ? 4 * unit : 1e-5)))
            verdict.trouble = "LSE of row " + std::to_string(s) + ": " + std::to_string(got) +
                              " for " + std::to_string(want);
        }
        const double floor = 1e-5 * std::min(1.0, largest_v);
        verdict.ratio = std::max(verdict.ratio, error / (allowed + floor));
        const bool few =
            std::min<std::int64_t>(64, p.seq_q - first) < 16;  // too few to compare maxima
        if (!(error <= (naive ? 32 : few ? 4 : 2) * allowed + floor + slack))
          verdict.trouble = "O of (" + std::to_string(b) + ", " + std::to_string(h) + ") rows " +
                            std::to_string(first) + "...: error " + std::to_string(error) +
                            ", allowed " + std::to_string(allowed);
      }
    }
}

}  // namespace flashbench::tests
