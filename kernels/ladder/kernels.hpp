// Where the kernels of the rungs are built, a file each. bf16 alone, and for one architecture
// (cmake/cuda.cmake): they explain, and are not raced.
#pragma once

#include "kernels/cuda/tiled_forward.hpp"

namespace flashbench::kernels {

TiledKernel kv_outer_rung_64(const Rung&);
TiledKernel kv_outer_rung_128(const Rung&);
TiledKernel q_outer_rung_64(const Rung&);
TiledKernel q_outer_rung_128(const Rung&);

}  // namespace flashbench::kernels
