// Runs the CUDA implementations' backward on cases and keeps count.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/cuda_gradient_case.hpp"
#include "kernels/cuda_suite.hpp"

namespace flashbench::tests {

struct Options {
  bool small = false;
  std::string impl, only;
  std::int64_t d = 0;
  std::uint32_t seed = 1;
};

// A rung of the ladder, built in bf16 alone.
inline bool is_rung(const FlashbenchImplementation& impl) {
  return std::strchr(impl.name, '/') != nullptr;
}

class Checks {
 public:
  Checks(const Options& options, const FlashbenchDevice& device_)
      : device(device_), seed(options.seed * 100003u), options_(options) {}

  const FlashbenchDevice device;
  int failures = 0;
  std::uint32_t seed;  // of the next inputs

  bool wants(std::int64_t d) const { return options_.d == 0 || options_.d == d; }
  bool small() const { return options_.small; }

  std::vector<const FlashbenchImplementation*> implementations() const {
    std::vector<const FlashbenchImplementation*> chosen;
    const FlashbenchPlugin& plugin = kernels::builtin();
    for (uint32_t i = 0; i < plugin.count; ++i) {
      const FlashbenchImplementation& impl = plugin.implementations[i];
      if ((impl.passes & FLASHBENCH_BACKWARD) &&
          (options_.impl.empty() || options_.impl == impl.name))
        chosen.push_back(&impl);
    }
    return chosen;
  }

  // Those that support a problem; the others are counted.
  std::vector<const FlashbenchImplementation*> supporting(const FlashbenchProblem& p) {
    std::vector<const FlashbenchImplementation*> chosen = implementations();
    const std::size_t before = chosen.size();
    std::erase_if(chosen, [&](const FlashbenchImplementation* impl) {
      FlashbenchMessage message{};
      return impl->supports(&p, &device, &message) != FLASHBENCH_OK;
    });
    skipped_ += static_cast<int>(before - chosen.size());
    return chosen;
  }

  void report(const std::string& what, const char* impl, const std::string& trouble) {
    ++checks_;
    if (trouble.empty()) return;
    if (++failures <= 20) std::printf("FAIL %-44s %-8s %s\n", what.c_str(), impl, trouble.c_str());
  }

  // Every implementation on a case; those that do not support it are counted, not failed. `then`
  // looks at the gradients after each.
  template <class Then>
  void all(const std::string& what, GradientCase& c, Then then) {
    for (const FlashbenchImplementation* impl : supporting(c.p)) {
      GradientVerdict verdict = c.run(*impl, device);
      if (verdict.trouble.empty()) verdict.trouble = then(c);
      worst_ = std::max(worst_, verdict.ratio);
      report(what, impl->name, verdict.trouble);
    }
  }
  void all(const std::string& what, GradientCase& c) {
    all(what, c, [](const GradientCase&) { return std::string(); });
  }

  void random(const FlashbenchProblem& p, Padding padding, double slack = 0) {
    if (!wants(p.head_dim)) return;
    GradientCase c(p, padding);
    c.slack = slack;
    c.inputs(normal(seed), normal(seed + 1), normal(seed + 2), normal(seed + 3));
    seed += 4;
    all(name_of(p), c);
  }

  // One line a section: its name, checks, failures, the worst error against the bound, seconds.
  template <class F>
  void section(const char* name, F f) {
    if (!options_.only.empty() && options_.only != name) return;
    const auto start = std::chrono::steady_clock::now();
    const int checks = checks_, failed = failures, skipped = skipped_;
    worst_ = 0;
    f(*this);
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    std::printf("%-10s %5d checks %4d failed %4d unsupported   worst error/bound %.2f   %.1f s\n",
                name, checks_ - checks, failures - failed, skipped_ - skipped, worst_,
                spent.count());
    std::fflush(stdout);
  }

 private:
  Options options_;
  int checks_ = 0, skipped_ = 0;
  double worst_ = 0;
};

inline FlashbenchProblem both(FlashbenchProblem p) {
  p.passes = FLASHBENCH_FORWARD | FLASHBENCH_BACKWARD;
  return p;
}

inline void fill_words(const DeviceMemory& memory, const std::vector<std::uint16_t>& words) {
  FLASHBENCH_CUDA(
      cudaMemcpy(memory.as<void>(), words.data(), memory.bytes(), cudaMemcpyHostToDevice));
}

// More batches or heads than a grid has rows: K = 0, V constant a head, dO = 1, so dV = 1, and dQ
// and dK are 0.
inline std::string many(const FlashbenchImplementation& impl, const FlashbenchDevice& device,
                        std::int64_t b, std::int64_t h) {
  constexpr std::int64_t s = 16, d = 64;
  const FlashbenchProblem p = both(problem(FLASHBENCH_FP16, b, h, h, s, s, d, false));
  const auto n = static_cast<std::size_t>(b * s * h * d);
  const std::uint16_t one = to_bits(FLASHBENCH_FP16, 1);
  DeviceMemory q(n * 2), k(n * 2), v(n * 2), o(n * 2), d_o(n * 2), dq(n * 2), dk(n * 2), dv(n * 2);
  const DeviceMemory statistics(static_cast<std::size_t>(b * h * s) * 12);
  std::vector<std::uint16_t> words(n, one);
  fill_words(q, words), fill_words(d_o, words);
  for (std::int64_t i = 0; i < b; ++i)
    for (std::int64_t j = 0; j < s * h; ++j)
      std::fill_n(words.begin() + (i * s * h + j) * d, d,
                  to_bits(FLASHBENCH_FP16, static_cast<float>((i * h + j % h) % 7 + 1)));
  fill_words(v, words);
  FLASHBENCH_CUDA(cudaMemset(k.as<void>(), 0, n * 2));
  for (const DeviceMemory* memory : {&o, &dq, &dk, &dv})
    FLASHBENCH_CUDA(cudaMemset(memory->as<void>(), 0xff, n * 2));
  auto view = [&](const DeviceMemory& memory) {
    return FlashbenchTensor{memory.as<void>(), s * h * d, h * d, d};
  };
  Ready ready(impl, p, device);
  const bool lse = ready.cost.saves & FLASHBENCH_SAVES_LSE;
  auto* first = statistics.as<float>();
  float *m = lse ? nullptr : first + b * h * s, *l = lse ? nullptr : first + 2 * b * h * s;
  first = lse ? first : nullptr;
  ready.forward({view(q), view(k), view(v), view(o), first, m, l});
  ready.backward(
      {view(q), view(k), view(v), view(o), view(d_o), view(dq), view(dk), view(dv), first, m, l});
  auto is = [&](const DeviceMemory& memory, std::uint16_t wanted) {
    FLASHBENCH_CUDA(cudaMemcpy(words.data(), memory.as<void>(), n * 2, cudaMemcpyDeviceToHost));
    return std::all_of(words.begin(), words.end(), [&](std::uint16_t word) {
      return word == wanted || (wanted == 0 && word == 0x8000);
    });
  };
  return !is(dv, one) ? "dV is not 1"
         : !is(dq, 0) ? "dQ is not 0"
         : !is(dk, 0) ? "dK is not 0"
                      : "";
}

}  // namespace flashbench::tests
