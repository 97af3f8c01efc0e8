// What a dtype holds, and what rounding to it costs at most.
#pragma once

#include <cmath>

#include "record/enums.hpp"

namespace flashbench::judge {

// Bits of a significand behind the leading one.
inline int fraction_bits(Dtype dtype) {
  return dtype == Dtype::bf16 ? 7 : dtype == Dtype::fp16 ? 10 : 23;
}

inline double largest_number(Dtype dtype) {
  return std::ldexp(2 - std::ldexp(1.0, -fraction_bits(dtype)), dtype == Dtype::fp16 ? 15 : 127);
}

// Half a unit in the last place, as a share of the number: at the most, of any number.
inline double half_unit(Dtype dtype) {
  return std::ldexp(0.5, -fraction_bits(dtype));
}

// Half a unit in the last place of x; 0 where x is 0 or not finite.
inline double half_unit_at(Dtype dtype, double x) {
  return x == 0 || !std::isfinite(x) ? 0 : std::ldexp(half_unit(dtype), std::ilogb(x));
}

}  // namespace flashbench::judge
