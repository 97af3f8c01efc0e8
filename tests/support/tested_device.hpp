// The device that an executable tests. A file of end_to_end/recipes is compiled once and linked
// twice: with on_cpu.cpp into a test for any machine, and with on_gpu.cpp into one that skips where
// flashbench can use no GPU.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/run_program.hpp"

namespace flashbench::test {

extern const bool on_gpu;

inline std::string tested_device() {
  return on_gpu ? "cuda" : "cpu";
}
inline std::vector<std::string> tested_dtypes() {
  if (on_gpu) return {"fp16", "bf16"};
  return {"fp32", "fp16", "bf16"};
}

// Empty where the device can be used; exit 3 is what flashbench says where it cannot.
inline const std::string& why_not_tested() {
  static const std::string reason = [] {
    if (!on_gpu) return std::string();
    const Outcome probe =
        flashbench_says({"run", "--device", "cuda", "--impl", "v2", "--dtype", "fp16", "--head-dim",
                         "64", "--heads", "1", "--batch", "1", "--seq", "16", "--check-only"});
    return probe.exit_code == 3 ? "skipped, no GPU that flashbench can use: " + probe.err
                                : std::string();
  }();
  return reason;
}

class OnDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!why_not_tested().empty()) GTEST_SKIP() << why_not_tested();
  }
};

}  // namespace flashbench::test
