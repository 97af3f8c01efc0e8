#include "worker/dtype.hpp"

#include <bit>
#include <cstring>

namespace flashbench {

namespace {

// Shifts right by `bits` (1 ... 31), rounding to nearest, ties to even.
std::uint32_t shift_rounded(std::uint32_t value, int bits) {
  const std::uint32_t half = 1u << (bits - 1);
  return (value + half - 1 + ((value >> bits) & 1)) >> bits;
}

}  // namespace

std::int64_t bytes_of(Dtype dtype) {
  return dtype == Dtype::fp32 ? 4 : 2;
}

std::uint16_t to_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u);
  if (magnitude >= 0x47800000u) return static_cast<std::uint16_t>(sign | 0x7c00u);
  if (magnitude >= 0x38800000u)  // normal in fp16; a carry runs on into the exponent as it should
    return static_cast<std::uint16_t>(sign | shift_rounded(magnitude - 0x38000000u, 13));
  const int shift = 126 - static_cast<int>(magnitude >> 23);
  if (shift > 25) return sign;
  return static_cast<std::uint16_t>(sign |
                                    shift_rounded((magnitude & 0x7fffffu) | 0x800000u, shift));
}

float from_half(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000u) << 16;
  const std::uint32_t magnitude = half & 0x7fffu;
  if (magnitude >= 0x7c00u)
    return std::bit_cast<float>(sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13));
  if (magnitude >= 0x400u) return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000u));
  const float subnormal = static_cast<float>(magnitude) * 0x1p-24f;
  return sign ? -subnormal : subnormal;
}

std::uint16_t to_bfloat(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>((bits >> 16) | 0x40u);
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1)) >> 16);
}

float from_bfloat(std::uint16_t value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16);
}

float rounded(Dtype dtype, float value) {
  if (dtype == Dtype::fp16) return from_half(to_half(value));
  if (dtype == Dtype::bf16) return from_bfloat(to_bfloat(value));
  return value;
}

void narrow(Dtype dtype, const float* from, void* to, std::int64_t count) {
  auto* words = static_cast<std::uint16_t*>(to);
  if (dtype == Dtype::fp16) {
    for (std::int64_t i = 0; i < count; ++i) words[i] = to_half(from[i]);
  } else if (dtype == Dtype::bf16) {
    for (std::int64_t i = 0; i < count; ++i) words[i] = to_bfloat(from[i]);
  } else if (count > 0) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(float));
  }
}

void widen(Dtype dtype, const void* from, float* to, std::int64_t count) {
  const auto* words = static_cast<const std::uint16_t*>(from);
  if (dtype == Dtype::fp16) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = from_half(words[i]);
  } else if (dtype == Dtype::bf16) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = from_bfloat(words[i]);
  } else if (count > 0) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(float));
  }
}

}  // namespace flashbench
