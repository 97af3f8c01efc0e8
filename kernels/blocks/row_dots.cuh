// D = rowsum(dO * O), which is rowsum(dP * P): what the softmax takes off every dP of a row.
#pragma once

#include "kernels/blocks/fragments.cuh"

namespace flashbench::kernels {

// `lanes` neighbouring lanes hold a row of dO and of O, eight elements each; all of them learn D.
template <class Element, int lanes>
FLASHBENCH_INLINE float dot_do_o(const uint4& d_o, const uint4& o) {
  const std::uint32_t a[4] = {d_o.x, d_o.y, d_o.z, d_o.w}, b[4] = {o.x, o.y, o.z, o.w};
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float2 x = unpack<Element>(a[i]), y = unpack<Element>(b[i]);
    sum = fmaf(x.x, y.x, fmaf(x.y, y.y, sum));
  }
#pragma unroll
  for (int step = lanes / 2; step > 0; step /= 2) sum += __shfl_xor_sync(every_lane, sum, step);
  return sum;
}

}  // namespace flashbench::kernels
