// The rungs whose outer loop runs over Q, at d = 128.
#include "kernels/ladder/find.cuh"

namespace flashbench::kernels {

TiledKernel q_outer_rung_128(const Rung& rung) {
  return find_rung<Loop::q_outer, 128>(rung);
}

}  // namespace flashbench::kernels
