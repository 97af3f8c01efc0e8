// The rungs whose outer loop runs over Q, at d = 64.
#include "kernels/ladder/find.cuh"

namespace flashbench::kernels {

TiledKernel q_outer_rung_64(const Rung& rung) {
  return find_rung<Loop::q_outer, 64>(rung);
}

}  // namespace flashbench::kernels
