#pragma once

#include "kernels/cpu/kernel.hpp"

namespace flashbench::kernels::cpu {

// Standard attention.
struct Naive {
  static constexpr const char* name = "naive";
  static constexpr const char* idea = "two products, the whole S x S matrix in memory between them";
  static constexpr const char* section = "5.2, 8.2";

  static FlashbenchCost forward_cost(const FlashbenchProblem&, int threads);
  static FlashbenchCost backward_cost(const FlashbenchProblem&, int threads);
  static std::unique_ptr<ForwardKernel> forward(const FlashbenchProblem&, int threads,
                                                void* workspace);
  static std::unique_ptr<BackwardKernel> backward(const FlashbenchProblem&, int threads,
                                                  void* workspace);
};

}  // namespace flashbench::kernels::cpu
