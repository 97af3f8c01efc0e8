// The element types on the host: sizes and rounding (to nearest, ties to even), in integers, so
// that every machine gets the same bits.
#pragma once

#include <cstdint>

#include "record/enums.hpp"

namespace flashbench {

std::int64_t bytes_of(Dtype);
std::uint16_t to_half(float);
float from_half(std::uint16_t);
std::uint16_t to_bfloat(float);
float from_bfloat(std::uint16_t);
// `value` as an element of the dtype would hold it.
float rounded(Dtype, float value);
void narrow(Dtype, const float* from, void* to, std::int64_t count);
void widen(Dtype, const void* from, float* to, std::int64_t count);

}  // namespace flashbench
