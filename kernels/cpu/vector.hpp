// The elementwise work of attention on rows of fp32, vectorised for the processor it runs on.
#pragma once

#include <cstdint>

#include "flashbench/attention.h"

namespace flashbench::kernels::cpu {

// n elements of dtype to fp32, exact, and back, to the nearest (ties to even).
void widen(FlashbenchDtype, const void* from, float* to, int64_t n);
void narrow(FlashbenchDtype, const float* from, void* to, int64_t n);

// The largest of n; -inf for none.
float row_max(const float* s, int64_t n);

// s = exp(s - m) rounded to dtype, for s <= m but for rounding: the exponent never comes out
// positive. Returns the sum of what was not rounded yet. Results below 2^-126 are 0: subnormals
// would slow every product that meets them.
float row_exp(float* s, int64_t n, float m, FlashbenchDtype);

void row_scale(float* x, int64_t n, float factor);  // x *= factor
void row_add(float* x, const float* y, int64_t n);  // x += y
// x /= divisor, rounded to dtype; 0 <= x / divisor <= 1 where dtype has 16 bits
void row_divide(float* x, int64_t n, float divisor, FlashbenchDtype);
// o = o * carried / l + pv / l
void row_renormalize(float* o, const float* pv, int64_t n, float carried, float l);

}  // namespace flashbench::kernels::cpu
