// What a pass of an implementation is on the CPU. An implementation is a struct with
//   static constexpr const char* name, idea, section;
//   static FlashbenchCost forward_cost(const FlashbenchProblem&, int threads);     and
//   backward_cost static std::unique_ptr<ForwardKernel> forward(const FlashbenchProblem&, int
//   threads,
//                                                 void* workspace);                and backward
// whose cost is that of the one pass; kernels/cpu/adapter.hpp makes a row of attention.h's table.
#pragma once

#include <memory>

#include "flashbench/attention.h"

namespace flashbench::kernels::cpu {

// A launch of `blocks` independent pieces over `threads` cores, each with `bytes` of tile buffers.
FlashbenchLaunch launch_of(const char* kernel, int threads, int64_t blocks, int64_t bytes);

class Kernel {
 public:
  Kernel() = default;
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  virtual ~Kernel() = default;
  virtual FlashbenchCounts counts() const = 0;  // of the last run
  virtual FlashbenchLaunch launch() const = 0;
};

class ForwardKernel : public Kernel {
 public:
  virtual void run(const FlashbenchForward&) = 0;
};

class BackwardKernel : public Kernel {
 public:
  virtual void run(const FlashbenchBackward&) = 0;
};

}  // namespace flashbench::kernels::cpu
