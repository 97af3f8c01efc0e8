// The two passes, as the host sees them.
#pragma once

#include "kernels/cuda/tiled_backward.hpp"
#include "kernels/cuda/tiled_forward.hpp"

namespace flashbench::kernels {

extern const TiledForward flash_v1_forward;
extern const TiledBackward flash_v1_backward;

}  // namespace flashbench::kernels
