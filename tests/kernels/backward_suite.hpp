// Runs the CUDA implementations' backward on cases and keeps count.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/cuda_suite.hpp"
#include "kernels/gradient_case.hpp"

namespace flashbench::tests {

struct Options {
  bool small = false;
  std::string impl, only;
  std::int64_t d = 0;
  std::uint32_t seed = 1;
};

class Checks {
 public:
  explicit Checks(const Options& options) : options_(options), seed(options.seed * 100003u) {}

  const FlashbenchDevice device = this_device();
  int failures = 0;

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

  void report(const std::string& what, const char* impl, const std::string& trouble) {
    ++checks_;
    if (trouble.empty()) return;
    if (++failures <= 20) std::printf("FAIL %-44s %-8s %s\n", what.c_str(), impl, trouble.c_str());
  }

  // Every implementation on a case; those that do not support it are counted, not failed. `then`
  // looks at the gradients after each.
  template <class Then>
  void all(const std::string& what, GradientCase& c, Then then) {
    for (const FlashbenchImplementation* impl : implementations()) {
      FlashbenchMessage message{};
      if (impl->supports(&c.p, &device, &message) != FLASHBENCH_OK) {
        ++skipped_;
        continue;
      }
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

 public:
  std::uint32_t seed;
};

inline FlashbenchProblem both(FlashbenchProblem p) {
  p.passes = FLASHBENCH_FORWARD | FLASHBENCH_BACKWARD;
  return p;
}

}  // namespace flashbench::tests
