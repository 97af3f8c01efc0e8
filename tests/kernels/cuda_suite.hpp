// Runs every CUDA implementation on a case and keeps count.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "kernels/cuda_case.hpp"

namespace flashbench::tests {

struct Suite {
  std::string only;  // the one implementation that is checked, unless empty
  FlashbenchDevice device;
  int checks = 0, failures = 0, skipped = 0;
  // One an implementation.
  std::vector<double> worst_ratio = std::vector<double>(kernels::builtin().count);
  std::vector<double> worst_lse = worst_ratio;

  void report(const char* what, const char* impl, const std::string& trouble) {
    ++checks;
    if (trouble.empty()) return;
    if (trouble.starts_with("unsupported: not built"))
      ++skipped;
    else if (++failures <= 20)
      std::printf("FAIL %-40s %-24s %s\n", what, impl, trouble.c_str());
  }

  // f(implementation, its place among all).
  template <class F>
  void each(F f) const {
    const FlashbenchPlugin& plugin = kernels::builtin();
    for (uint32_t i = 0; i < plugin.count; ++i)
      if (only.empty() || only == plugin.implementations[i].name) f(plugin.implementations[i], i);
  }

  // `then` sees the case after each implementation's run.
  void all(const std::string& what, Case& c,
           const std::function<std::string(const Case&, bool naive)>& then = {}) {
    each([&](const FlashbenchImplementation& impl, uint32_t i) {
      Verdict verdict = c.run(impl, device);
      if (verdict.trouble.empty() && then) verdict.trouble = then(c, i == 0);
      worst_ratio[i] = std::max(worst_ratio[i], verdict.ratio);
      worst_lse[i] = std::max(worst_lse[i], verdict.lse);
      report(what.c_str(), impl.name, verdict.trouble);
    });
  }
};

// Empty, or a sentence.
inline std::string near(const char* what, double got, double want, double tolerance) {
  if (got == want || std::fabs(got - want) <= tolerance) return {};
  return std::string(what) + " is " + std::to_string(got) + ", not " + std::to_string(want);
}

inline FlashbenchProblem problem(FlashbenchDtype dtype, std::int64_t b, std::int64_t hq,
                                 std::int64_t hkv, std::int64_t sq, std::int64_t sk, std::int64_t d,
                                 bool causal) {
  FlashbenchProblem p{};
  p.batch = b, p.query_heads = hq, p.kv_heads = hkv, p.seq_q = sq, p.seq_k = sk, p.head_dim = d;
  p.dtype = dtype;
  p.mask = causal ? FLASHBENCH_CAUSAL : FLASHBENCH_FULL;
  p.passes = FLASHBENCH_FORWARD;
  p.scale = 1 / std::sqrt(static_cast<double>(d));
  p.alignment = 256;
  return p;
}

inline std::string name_of(const FlashbenchProblem& p) {
  return std::string(p.dtype == FLASHBENCH_FP16 ? "fp16" : "bf16") + " b" +
         std::to_string(p.batch) + " h" + std::to_string(p.query_heads) + "/" +
         std::to_string(p.kv_heads) + " " + std::to_string(p.seq_q) + "x" +
         std::to_string(p.seq_k) + " d" + std::to_string(p.head_dim) +
         (p.mask == FLASHBENCH_CAUSAL ? " causal" : "");
}

}  // namespace flashbench::tests
