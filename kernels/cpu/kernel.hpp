// What a pass of an implementation is on the CPU: created for one problem, then run any number of
// times.
//
// An implementation is a struct (flash_v2/cpu.hpp) with four static functions of a problem and the
// number of threads: forward_cost and backward_cost, each of that pass alone; forward and backward,
// which also take the workspace and make that pass's kernel. kernels/cpu/adapter.hpp makes of it a
// row of attention.h's table.
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
