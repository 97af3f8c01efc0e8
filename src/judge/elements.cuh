// Elements of the inputs on a GPU, and how the dtype rounds.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdio>
#include <type_traits>

#include "flashbench/attention.h"

namespace flashbench::judge::detail {

inline constexpr int longest_d = 256;

inline __device__ double widen(float x) {
  return x;
}
inline __device__ double widen(__half x) {
  return __half2float(x);
}
inline __device__ double widen(__nv_bfloat16 x) {
  return __bfloat162float(x);
}
template <class Element>
__device__ float rounded(float x);
template <>
inline __device__ float rounded<float>(float x) {
  return x;
}
template <>
inline __device__ float rounded<__half>(float x) {
  return __half2float(__float2half_rn(x));
}
template <>
inline __device__ float rounded<__nv_bfloat16>(float x) {
  return __bfloat162float(__float2bfloat16_rn(x));
}

// Half a unit of the dtype in the last place of x; 0 where x is 0 or not finite.
template <class Element>
__device__ double half_unit_at(double x) {
  constexpr int significand_bits = std::is_same_v<Element, __half> ? 11 : 8;
  static_assert(sizeof(Element) == 2);
  return x == 0 || !isfinite(x) ? 0 : ldexp(1.0, ilogb(x) - significand_bits);
}

// Eight neighbouring elements, in one load where they lie so.
template <class Element>
struct alignas(8 * sizeof(Element)) Eight {
  Element x[8];
};

inline FlashbenchStatus say(FlashbenchStatus status, FlashbenchMessage* message, const char* text) {
  if (message) std::snprintf(message->text, sizeof message->text, "%s", text);
  return status;
}

}  // namespace flashbench::judge::detail
