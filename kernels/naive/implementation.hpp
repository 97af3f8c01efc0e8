// What there is to know of naive without its kernels: the line that index.hpp lists.
#pragma once

#include "kernels/implementations.hpp"

namespace flashbench::kernels {

struct Naive {
  static constexpr Facts facts{"naive",
                               "two products, the whole S x S matrix in memory between them",
                               "5.2, 8.2", FLASHBENCH_FORWARD | FLASHBENCH_BACKWARD};
  static FlashbenchImplementation cpu();
  static FlashbenchImplementation cuda();
};

}  // namespace flashbench::kernels
