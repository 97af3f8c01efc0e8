// The rungs whose outer loop runs over K and V, at d = 64.
#include "kernels/ladder/find.cuh"

namespace flashbench::kernels {

TiledKernel kv_outer_rung_64(const Rung& rung) {
  return find_rung<Loop::kv_outer, 64>(rung);
}

}  // namespace flashbench::kernels
