// The rungs whose outer loop runs over K and V, at d = 128.
#include "kernels/ladder/find.cuh"

namespace flashbench::kernels {

TiledKernel kv_outer_rung_128(const Rung& rung) {
  return find_rung<Loop::kv_outer, 128>(rung);
}

}  // namespace flashbench::kernels
