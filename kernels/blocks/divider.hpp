// Division on the GPU by a number that the host knows: a multiplication and a shift.
#pragma once

#include <bit>
#include <cstdint>

#ifdef __CUDACC__
#define FLASHBENCH_HOST_AND_DEVICE __host__ __device__
#else
#define FLASHBENCH_HOST_AND_DEVICE
#endif

namespace flashbench::kernels {

// x / by = 2x * factor / 2^(32 + shift), rounded down, for x below 2^31: factor is 2^(31 + shift) /
// by, rounded up by less than one, which for such x is too little to reach the next quotient.
struct Divider {
  std::uint32_t by = 1, factor = 1u << 31, shift = 0;

  Divider() = default;
  explicit Divider(std::uint32_t divisor)  // 1 to 2^31
      : by(divisor), shift(static_cast<std::uint32_t>(std::bit_width(divisor - 1))) {
    factor = static_cast<std::uint32_t>(((std::uint64_t{1} << (31 + shift)) + by - 1) / by);
  }
  FLASHBENCH_HOST_AND_DEVICE std::uint32_t quotient(std::uint32_t x) const {
#ifdef __CUDA_ARCH__
    return __umulhi(2 * x, factor) >> shift;  // the same, for which the compiler needs more room
#else
    return static_cast<std::uint32_t>(std::uint64_t{2 * x} * factor >> 32) >> shift;
#endif
  }
};

}  // namespace flashbench::kernels
