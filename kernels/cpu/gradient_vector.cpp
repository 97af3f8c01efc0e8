#include "kernels/cpu/gradient_vector.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/gradient_vector.cpp"
#include "hwy/foreach_target.h"  // compiles the rest once a target
// After foreach_target.
#include "hwy/highway.h"
#include "kernels/cpu/rounding-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace flashbench::kernels::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

float RowDot(const float* x, const float* y, int64_t n) {
  const hn::ScalableTag<float> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  auto sum = hn::Zero(d);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    sum = hn::MulAdd(hn::LoadU(d, x + i), hn::LoadU(d, y + i), sum);
  float total = hn::GetLane(hn::SumOfLanes(d, sum));
  for (; i < n; ++i) total += x[i] * y[i];
  return total;
}

template <class RoundP, class RoundS>
HWY_INLINE void RowSoftmaxGradientRounded(float* p, float* dp, int64_t n, float D, RoundP round_p,
                                          RoundS round_s) {
  each_vector(n, [&](auto d, int64_t i) HWY_ATTR {
    const auto probability = hn::LoadU(d, p + i);
    const auto ds = hn::Mul(probability, hn::Sub(hn::LoadU(d, dp + i), hn::Set(d, D)));
    const auto none = hn::Eq(probability, hn::Zero(d));
    const auto nan = hn::IsNaN(ds);
    hn::StoreU(hn::IfThenZeroElse(none, hn::IfThenElse(nan, ds, round_s(d, ds))), d, dp + i);
    const auto rounded = round_p(d, probability);
    hn::StoreU(hn::IfThenElse(hn::IsNaN(probability), probability, rounded), d, p + i);
  });
}

void RowSoftmaxGradient(float* p, float* dp, int64_t n, float D, FlashbenchDtype dtype) {
  if (dtype == FLASHBENCH_FP32)
    return RowSoftmaxGradientRounded(p, dp, n, D, RoundFp32(), RoundFp32());
  if (dtype == FLASHBENCH_BF16)
    return RowSoftmaxGradientRounded(p, dp, n, D, RoundBf16(), RoundBf16());
  RowSoftmaxGradientRounded(p, dp, n, D, RoundFp16(), RoundAnyFp16());
}

}  // namespace HWY_NAMESPACE
}  // namespace flashbench::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace flashbench::kernels::cpu {
HWY_EXPORT(RowDot);
HWY_EXPORT(RowSoftmaxGradient);

float row_dot(const float* x, const float* y, int64_t n) {
  return HWY_DYNAMIC_DISPATCH(RowDot)(x, y, n);
}

void row_softmax_gradient(float* p, float* dp, int64_t n, float D, FlashbenchDtype dtype) {
  HWY_DYNAMIC_DISPATCH(RowSoftmaxGradient)(p, dp, n, D, dtype);
}

}  // namespace flashbench::kernels::cpu
#endif
