// Attention as three kernels, S and P materialised in the run's dtype: the baseline.
#pragma once

#include "flashbench/attention.h"

namespace flashbench::kernels {

extern const FlashbenchImplementation naive_cuda;

}  // namespace flashbench::kernels
