// The rungs of the backward, at d = 128.
#include "kernels/ladder/find_backward.cuh"

namespace flashbench::kernels {

BackwardKernels backward_rung_128(const BackwardRung& rung) {
  return find_backward_rung<128>(rung);
}

}  // namespace flashbench::kernels
