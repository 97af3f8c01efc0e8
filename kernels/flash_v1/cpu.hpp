#pragma once

#include "kernels/cpu/kernel.hpp"

namespace flashbench::kernels::cpu {

// FlashAttention V1.
struct FlashV1 {
  static constexpr const char* name = "v1";
  static constexpr const char* idea = "K/V outer, O through memory and normalised in every step";
  static constexpr const char* section = "1.1, 2.1, 3.2, 4.1, 7.3";

  static FlashbenchCost forward_cost(const FlashbenchProblem&, int threads);
  static FlashbenchCost backward_cost(const FlashbenchProblem&, int threads);
  static std::unique_ptr<ForwardKernel> forward(const FlashbenchProblem&, int threads,
                                                void* workspace);
  static std::unique_ptr<BackwardKernel> backward(const FlashbenchProblem&, int threads,
                                                  void* workspace);
};

}  // namespace flashbench::kernels::cpu
