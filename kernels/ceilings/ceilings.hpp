// Measured ceilings: what this machine's units reach at their best, timed as hidden rows beside the
// implementations.
#pragma once

#include <span>

#include "flashbench/attention.h"

namespace flashbench::kernels {

struct Ceiling {
  const char* name;  // "sgemm", "gemm", "mma", "wgmma" (FLOP/s), "exp2" (evaluations/s), "copy"
                     // (bytes/s, read + write)
  // Allocates what one run needs; work = FLOPs, evaluations or bytes of one run.
  FlashbenchStatus (*create)(const FlashbenchDevice*, void** state, double* work,
                             FlashbenchMessage*);
  FlashbenchStatus (*run)(void* state, void* stream, FlashbenchMessage*);
  void (*destroy)(void* state);
};

std::span<const Ceiling> ceilings();  // those of the worker this is linked into

}  // namespace flashbench::kernels
