// High-precision attention on the GPU, for judging. It shares no code with anything under test.
#pragma once

#include "flashbench/attention.h"

namespace flashbench::judge {

struct ReferenceOutput {
  double* o;          // (B, Hq, Sq, d), contiguous, on the device
  double* lse;        // (B, Hq, Sq)
  double* top;        // (B, Hq, Sq), the row's largest score; may be null
  float* comparator;  // (B, Hq, Sq, d); may be null
};

// O and LSE in fp64 from the rounded inputs q, k and v of `inputs` (on the device, any strides).
// The comparator is the same computation as an unfused kernel of the run's dtype would do it: S and
// softmax in fp32, P rounded, fp32 sums, O rounded. Head dimensions up to 256. Enqueues on
// `stream`.
FlashbenchStatus reference_forward(const FlashbenchProblem& problem,
                                   const FlashbenchForward& inputs, const ReferenceOutput& output,
                                   void* stream, FlashbenchMessage* message);

}  // namespace flashbench::judge
