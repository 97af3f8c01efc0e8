// The rungs of the backward, at d = 64.
#include "kernels/ladder/find_backward.cuh"

namespace flashbench::kernels {

BackwardKernels backward_rung_64(const BackwardRung& rung) {
  return find_backward_rung<64>(rung);
}

}  // namespace flashbench::kernels
