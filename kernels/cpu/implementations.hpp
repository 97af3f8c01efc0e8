// The CPU column of kernels/index.cpp.
#pragma once

#include "flashbench/attention.h"

namespace flashbench::kernels::cpu {

FlashbenchImplementation naive();
FlashbenchImplementation v1();
FlashbenchImplementation v2();

}  // namespace flashbench::kernels::cpu
