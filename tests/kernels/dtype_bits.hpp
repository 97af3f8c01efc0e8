// fp32, fp16 and bf16 to and from double, without code of the kernels.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "flashbench/attention.h"

namespace flashbench::test {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

inline int significand_bits(FlashbenchDtype dtype) {
  return dtype == FLASHBENCH_FP32 ? 24 : dtype == FLASHBENCH_FP16 ? 11 : 8;
}

// To the nearest value of the dtype, ties to even.
inline double rounded(double x, FlashbenchDtype dtype) {
  if (x == 0 || !std::isfinite(x)) return x;
  int exponent;
  std::frexp(x, &exponent);
  const int smallest = dtype == FLASHBENCH_FP16 ? -13 : -125;
  const int shift = significand_bits(dtype) - std::max(exponent, smallest);
  return std::ldexp(std::nearbyint(std::ldexp(x, shift)), -shift);
}

inline void encode(double x, FlashbenchDtype dtype, void* to) {
  if (dtype == FLASHBENCH_FP16) {
    const double r = rounded(x, dtype);
    uint16_t bits = std::signbit(r) ? 0x8000 : 0;
    if (std::isnan(r)) {
      bits |= 0x7e00;
    } else if (r != 0) {
      int exponent;
      std::frexp(std::abs(r), &exponent);
      if (exponent >= -13) {
        bits |= static_cast<uint16_t>(((exponent + 14) << 10) +
                                      (std::ldexp(std::abs(r), 11 - exponent) - 1024));
      } else {
        bits |= static_cast<uint16_t>(std::ldexp(std::abs(r), 24));
      }
    }
    std::memcpy(to, &bits, 2);
    return;
  }
  const auto value = static_cast<float>(rounded(x, dtype));
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  if (dtype == FLASHBENCH_FP32) {
    std::memcpy(to, &bits, 4);
  } else {
    bits >>= 16;
    std::memcpy(to, &bits, 2);
  }
}

inline double decode(const void* from, FlashbenchDtype dtype) {
  if (dtype == FLASHBENCH_FP16) {
    uint16_t bits;
    std::memcpy(&bits, from, 2);
    const int exponent = (bits >> 10) & 31, fraction = bits & 1023;
    double value =
        exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    if (exponent == 31) value = fraction ? std::nan("") : kInfinity;
    return bits & 0x8000 ? -value : value;
  }
  uint32_t bits = 0;
  std::memcpy(dtype == FLASHBENCH_FP32 ? reinterpret_cast<char*>(&bits)
                                       : reinterpret_cast<char*>(&bits) + 2,
              from, dtype == FLASHBENCH_FP32 ? 4 : 2);
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

}  // namespace flashbench::test
