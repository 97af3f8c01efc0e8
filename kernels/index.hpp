// Every built-in implementation of the worker this is linked into.
#pragma once

#include "flashbench/attention.h"

namespace flashbench::kernels {

const FlashbenchPlugin& builtin();

}  // namespace flashbench::kernels
