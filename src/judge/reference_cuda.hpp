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

// Further draws of the comparator (comparator.hpp) for one row of one head: draws [first, first +
// count), at most most_draws. Their largest error raises errors[slot].
inline constexpr int most_draws = 8;
struct DrawTask {
  int row, first, count, slot;
};
// All on the device. errors must have been cleared.
struct Drawing {
  const double* exact;  // O of the problem's rows, (Sq, d)
  const DrawTask* tasks;
  int task_count;
  bool rounded_scores;
  float* errors;
};

// `problem` has one batch and one head. Enqueues on `stream`.
FlashbenchStatus draw_forward(const FlashbenchProblem& problem, const FlashbenchForward& inputs,
                              const Drawing&, void* stream, FlashbenchMessage* message);

}  // namespace flashbench::judge
