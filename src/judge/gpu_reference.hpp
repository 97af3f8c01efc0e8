// The reference on a GPU: fp64 there as well, by kernels of the judge's own; gradients too.
#pragma once

#include <memory>

#include "judge/reference.hpp"

namespace flashbench::judge {

// `ordinal`: a CUDA device. Null, and why in *why, where it cannot be used.
std::unique_ptr<Reference> gpu_reference(int ordinal, std::string* why);

}  // namespace flashbench::judge
