#include "kernels/cpu/vector.hpp"

#include <cstring>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/vector.cpp"
#include "hwy/foreach_target.h"  // compiles the rest once a target
// After foreach_target.
#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"
#include "kernels/cpu/rounding-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace flashbench::kernels::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void Widen(FlashbenchDtype dtype, const uint16_t* from, float* to, int64_t n) {
  if (dtype == FLASHBENCH_BF16) {
    each_vector(n, [&](auto d, int64_t i) HWY_ATTR {
      const hn::Rebind<uint16_t, decltype(d)> d16;
      const hn::RebindToUnsigned<decltype(d)> du;
      const auto bits = hn::ShiftLeft<16>(hn::PromoteTo(du, hn::LoadU(d16, from + i)));
      hn::StoreU(hn::BitCast(d, bits), d, to + i);
    });
  } else {
    each_vector(n, [&](auto d, int64_t i) HWY_ATTR {
      const hn::Rebind<uint16_t, decltype(d)> d16;
      hn::StoreU(from_fp16(d, hn::LoadU(d16, from + i)), d, to + i);
    });
  }
}

void Narrow(FlashbenchDtype dtype, const float* from, uint16_t* to, int64_t n) {
  if (dtype == FLASHBENCH_BF16) {
    each_vector(n, [&](auto d, int64_t i) HWY_ATTR {
      const hn::Rebind<uint16_t, decltype(d)> d16;
      hn::StoreU(to_bf16(d, hn::LoadU(d, from + i)), d16, to + i);
    });
  } else {
    each_vector(n, [&](auto d, int64_t i) HWY_ATTR {
      const hn::Rebind<uint16_t, decltype(d)> d16;
      hn::StoreU(to_fp16(d, hn::LoadU(d, from + i)), d16, to + i);
    });
  }
}

float RowMax(const float* s, int64_t n) {
  const hn::ScalableTag<float> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  auto a = hn::Set(d, -std::numeric_limits<float>::infinity());
  auto b = a;
  int64_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    a = hn::Max(a, hn::LoadU(d, s + i));
    b = hn::Max(b, hn::LoadU(d, s + i + lanes));
  }
  float m = hn::GetLane(hn::MaxOfLanes(d, hn::Max(a, b)));
  for (; i < n; ++i) m = s[i] > m ? s[i] : m;
  return m;
}

template <class D>
HWY_INLINE hn::Vec<D> exp_below_zero(D d, hn::Vec<D> x) {
  const auto p = hn::Exp(d, hn::Min(x, hn::Zero(d)));
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -87.3f)), p);
}

// Exp makes 0 of a NaN; a NaN in Q or K must be seen.
template <class Round>
HWY_INLINE float RowExpRounded(float* s, int64_t n, float m, Round round) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 1> one;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  auto sum = hn::Zero(d);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto x = hn::Sub(hn::LoadU(d, s + i), hn::Set(d, m));
    const auto nan = hn::IsNaN(x);
    const auto p = exp_below_zero(d, x);
    sum = hn::Add(sum, hn::IfThenElse(nan, x, p));
    hn::StoreU(hn::IfThenElse(nan, x, round(d, p)), d, s + i);
  }
  float total = hn::GetLane(hn::SumOfLanes(d, sum));
  for (; i < n; ++i) {
    const auto x = hn::Sub(hn::LoadU(one, s + i), hn::Set(one, m));
    const auto nan = hn::IsNaN(x);
    const auto p = exp_below_zero(one, x);
    total += hn::GetLane(hn::IfThenElse(nan, x, p));
    hn::StoreU(hn::IfThenElse(nan, x, round(one, p)), one, s + i);
  }
  return total;
}

float RowExp(float* s, int64_t n, float m, FlashbenchDtype dtype) {
  if (dtype == FLASHBENCH_FP32) return RowExpRounded(s, n, m, RoundFp32());
  if (dtype == FLASHBENCH_BF16) return RowExpRounded(s, n, m, RoundBf16());
  return RowExpRounded(s, n, m, RoundFp16());
}

void RowScale(float* x, int64_t n, float factor) {
  each_vector(n, [&](auto d, int64_t i) HWY_ATTR {
    hn::StoreU(hn::Mul(hn::LoadU(d, x + i), hn::Set(d, factor)), d, x + i);
  });
}

void RowAdd(float* x, const float* y, int64_t n) {
  each_vector(n, [&](auto d, int64_t i) HWY_ATTR {
    hn::StoreU(hn::Add(hn::LoadU(d, x + i), hn::LoadU(d, y + i)), d, x + i);
  });
}

template <class Round>
HWY_INLINE void RowDivideRounded(float* x, int64_t n, float divisor, Round round) {
  each_vector(n, [&](auto d, int64_t i) HWY_ATTR {
    const auto quotient = hn::Div(hn::LoadU(d, x + i), hn::Set(d, divisor));
    const auto rounded = round(d, quotient);
    hn::StoreU(hn::IfThenElse(hn::IsNaN(quotient), quotient, rounded), d, x + i);
  });
}

void RowDivide(float* x, int64_t n, float divisor, FlashbenchDtype dtype) {
  if (dtype == FLASHBENCH_FP32) return RowDivideRounded(x, n, divisor, RoundFp32());
  if (dtype == FLASHBENCH_BF16) return RowDivideRounded(x, n, divisor, RoundBf16());
  RowDivideRounded(x, n, divisor, RoundFp16());
}

void RowRenormalize(float* o, const float* pv, int64_t n, float carried, float l) {
  each_vector(n, [&](auto d, int64_t i) HWY_ATTR {
    const auto divisor = hn::Set(d, l);
    const auto old = hn::Div(hn::Mul(hn::LoadU(d, o + i), hn::Set(d, carried)), divisor);
    hn::StoreU(hn::Add(old, hn::Div(hn::LoadU(d, pv + i), divisor)), d, o + i);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace flashbench::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace flashbench::kernels::cpu {
HWY_EXPORT(Widen);
HWY_EXPORT(Narrow);
HWY_EXPORT(RowMax);
HWY_EXPORT(RowExp);
HWY_EXPORT(RowScale);
HWY_EXPORT(RowAdd);
HWY_EXPORT(RowDivide);
HWY_EXPORT(RowRenormalize);

void widen(FlashbenchDtype dtype, const void* from, float* to, int64_t n) {
  if (dtype == FLASHBENCH_FP32) {
    std::memcpy(to, from, static_cast<size_t>(n) * sizeof(float));
  } else {
    HWY_DYNAMIC_DISPATCH(Widen)(dtype, static_cast<const uint16_t*>(from), to, n);
  }
}

void narrow(FlashbenchDtype dtype, const float* from, void* to, int64_t n) {
  if (dtype == FLASHBENCH_FP32) {
    std::memcpy(to, from, static_cast<size_t>(n) * sizeof(float));
  } else {
    HWY_DYNAMIC_DISPATCH(Narrow)(dtype, from, static_cast<uint16_t*>(to), n);
  }
}

float row_max(const float* s, int64_t n) {
  return HWY_DYNAMIC_DISPATCH(RowMax)(s, n);
}

float row_exp(float* s, int64_t n, float m, FlashbenchDtype dtype) {
  return HWY_DYNAMIC_DISPATCH(RowExp)(s, n, m, dtype);
}

void row_scale(float* x, int64_t n, float factor) {
  HWY_DYNAMIC_DISPATCH(RowScale)(x, n, factor);
}

void row_add(float* x, const float* y, int64_t n) {
  HWY_DYNAMIC_DISPATCH(RowAdd)(x, y, n);
}

void row_divide(float* x, int64_t n, float divisor, FlashbenchDtype dtype) {
  HWY_DYNAMIC_DISPATCH(RowDivide)(x, n, divisor, dtype);
}

void row_renormalize(float* o, const float* pv, int64_t n, float carried, float l) {
  HWY_DYNAMIC_DISPATCH(RowRenormalize)(o, pv, n, carried, l);
}

}  // namespace flashbench::kernels::cpu
#endif
