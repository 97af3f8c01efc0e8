#pragma once

#include "kernels/cpu/kernel.hpp"

namespace flashbench::kernels::cpu {

// FlashAttention V1.
struct FlashV1 {
  static FlashbenchCost forward_cost(const FlashbenchProblem&, int threads);
  static FlashbenchCost backward_cost(const FlashbenchProblem&, int threads);
  static std::unique_ptr<ForwardKernel> forward(const FlashbenchProblem&, int threads,
                                                void* workspace);
  static std::unique_ptr<BackwardKernel> backward(const FlashbenchProblem&, int threads,
                                                  void* workspace);
};

}  // namespace flashbench::kernels::cpu
