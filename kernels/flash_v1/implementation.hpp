// What there is to know of v1 without its kernels: the line that index.hpp lists.
#pragma once

#include "kernels/implementations.hpp"

namespace flashbench::kernels {

struct FlashAttention1 {
  static constexpr Facts facts{"v1", "K/V outer, O through memory and normalised in every step",
                               "1.1, 2.1, 3.1, 4.1, 7", FLASHBENCH_FORWARD | FLASHBENCH_BACKWARD};
  static FlashbenchImplementation cpu();
  static FlashbenchImplementation cuda();
};

}  // namespace flashbench::kernels
