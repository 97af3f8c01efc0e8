// The elementwise work of the backward on rows of fp32, vectorised for the processor it runs on.
#pragma once

#include <cstdint>

#include "flashbench/attention.h"

namespace flashbench::kernels::cpu {

float row_dot(const float* x, const float* y, int64_t n);

// dp becomes dS = p * (dp - D), and then p and dS are rounded to dtype. dS is 0 where p is: what no
// query sees has no gradient, whatever dp is there.
void row_softmax_gradient(float* p, float* dp, int64_t n, float D, FlashbenchDtype);

}  // namespace flashbench::kernels::cpu
