// Gradients in high precision on the GPU, for tests. It shares no code with anything under test.
#pragma once

#include "flashbench/attention.h"

namespace flashbench::tests {

// All on the device and contiguous. From the forward's reference: o and lse in fp64, and o as the
// comparator has it.
struct ForwardReference {
  const double *o, *lse;  // (B, Hq, Sq, d), (B, Hq, Sq)
  const float* comparator;
};

// (B, Hq, Sq, d) for dq, (B, Hkv, Sk, d) for dk and dv. The comparator's are the same computation
// as an unfused kernel of the dtype would do it: fp32 sums, P, dS and the results rounded.
struct GradientReference {
  double *dq, *dk, *dv;
  float *comparator_dq, *comparator_dk, *comparator_dv;
};

// Bytes of scratch memory that reference_backward needs.
int64_t gradient_scratch_bytes(const FlashbenchProblem&);
// Reads q, k, v and d_o of `inputs`, in any strides. Throws kernels::Failure.
void reference_backward(const FlashbenchProblem&, const FlashbenchBackward& inputs,
                        const ForwardReference&, const GradientReference&, void* scratch);

}  // namespace flashbench::tests
