// What there is to know of v2 without its kernels: the line that index.hpp lists.
#pragma once

#include "kernels/implementations.hpp"

namespace flashbench::kernels {

struct FlashAttention2 {
  static constexpr Facts facts{"v2", "Q outer, O in fast memory, one division at the end",
                               "2.2, 3.2, 4.2, 5.3, 6.1, 7",
                               FLASHBENCH_FORWARD | FLASHBENCH_BACKWARD};
  static FlashbenchImplementation cpu();
  static FlashbenchImplementation cuda();
};

}  // namespace flashbench::kernels
