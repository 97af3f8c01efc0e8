// fp32 in vectors, and how it becomes 16 bits and back. Included once a target of Highway's.
#if defined(FLASHBENCH_ROUNDING_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef FLASHBENCH_ROUNDING_INL
#undef FLASHBENCH_ROUNDING_INL
#else
#define FLASHBENCH_ROUNDING_INL
#endif

#include <cstdint>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace flashbench::kernels::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// body(tag, i): whole vectors, then one element at a time.
template <class Body>
HWY_INLINE void each_vector(int64_t n, const Body& body) {
  const hn::ScalableTag<float> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) body(d, i);
  for (; i < n; ++i) body(hn::CappedTag<float, 1>(), i);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE hn::Vec<hn::RebindToUnsigned<D>> round_bits_16(D, V x) {
  const hn::RebindToUnsigned<D> du;
  const auto bits = hn::BitCast(du, x);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1u));
  return hn::Add(hn::Add(bits, hn::Set(du, 0x7fffu)), odd);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE hn::Vec<hn::RebindToUnsigned<D>> round_bits_13(D, V x) {
  const hn::RebindToUnsigned<D> du;
  const auto bits = hn::BitCast(du, x);
  const auto odd = hn::And(hn::ShiftRight<13>(bits), hn::Set(du, 1u));
  return hn::Add(hn::Add(bits, hn::Set(du, 0xfffu)), odd);
}

// A probability, 0 <= x <= 1, to the nearest one that the dtype has. Fp32 and bf16 take any number.
struct RoundFp32 {
  template <class D, class V>
  HWY_INLINE V operator()(D, V x) const {
    return x;
  }
};
struct RoundBf16 {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const hn::RebindToUnsigned<D> du;
    return hn::BitCast(d, hn::And(round_bits_16(d, x), hn::Set(du, 0xffff0000u)));
  }
};
struct RoundFp16 {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const hn::RebindToUnsigned<D> du;
    const auto normal = hn::BitCast(d, hn::And(round_bits_13(d, x), hn::Set(du, 0xffffe000u)));
    const auto half = hn::Set(d, 0.5f);  // its last place is fp16's smallest subnormal
    const auto subnormal = hn::Sub(hn::Add(x, half), half);
    return hn::IfThenElse(hn::Lt(x, hn::Set(d, 0x1p-14f)), subnormal, normal);
  }
};

template <class D>
HWY_INLINE hn::Vec<hn::Rebind<uint16_t, D>> to_bf16(D d, hn::Vec<D> x) {
  const hn::RebindToUnsigned<D> du;
  const hn::RebindToSigned<D> di;
  const hn::Rebind<uint16_t, D> d16;
  const auto quiet = hn::Or(hn::ShiftRight<16>(hn::BitCast(du, x)), hn::Set(du, 0x40u));
  const auto bits = hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(x)), quiet,
                                   hn::ShiftRight<16>(round_bits_16(d, x)));
  return hn::DemoteTo(d16, hn::BitCast(di, bits));
}

template <class D>
HWY_INLINE hn::Vec<hn::Rebind<uint16_t, D>> to_fp16(D d, hn::Vec<D> x) {
  const hn::RebindToUnsigned<D> du;
  const hn::RebindToSigned<D> di;
  const hn::Rebind<uint16_t, D> d16;
  const auto sign = hn::And(hn::BitCast(du, x), hn::Set(du, 0x80000000u));
  const auto a = hn::BitCast(d, hn::Xor(hn::BitCast(du, x), sign));
  const auto half = hn::Set(d, 0.5f);
  const auto subnormal = hn::Sub(hn::BitCast(du, hn::Add(a, half)), hn::BitCast(du, half));
  auto bits = hn::Sub(hn::ShiftRight<13>(round_bits_13(d, a)), hn::Set(du, 112u << 10));
  bits = hn::IfThenElse(hn::RebindMask(du, hn::Lt(a, hn::Set(d, 0x1p-14f))), subnormal, bits);
  bits = hn::IfThenElse(hn::RebindMask(du, hn::Ge(a, hn::Set(d, 65536.0f))), hn::Set(du, 0x7c00u),
                        bits);
  bits = hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(a)), hn::Set(du, 0x7e00u), bits);
  return hn::DemoteTo(d16, hn::BitCast(di, hn::Or(bits, hn::ShiftRight<16>(sign))));
}

template <class D>
HWY_INLINE hn::Vec<D> from_fp16(D d, hn::Vec<hn::Rebind<uint16_t, D>> h) {
  const hn::RebindToUnsigned<D> du;
  const auto wide = hn::PromoteTo(du, h);
  const auto sign = hn::ShiftLeft<16>(hn::And(wide, hn::Set(du, 0x8000u)));
  const auto shifted = hn::ShiftLeft<13>(hn::And(wide, hn::Set(du, 0x7fffu)));
  const auto small = hn::BitCast(d, shifted);
  const auto special = hn::BitCast(d, hn::Or(shifted, hn::Set(du, 0x7f800000u)));
  const auto value = hn::IfThenElse(hn::Ge(small, hn::Set(d, 0x1p-96f)), special,
                                    hn::Mul(small, hn::Set(d, 0x1p112f)));
  return hn::BitCast(d, hn::Or(hn::BitCast(du, value), sign));
}

// Any number to the nearest that fp16 has.
struct RoundAnyFp16 {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return from_fp16(d, to_fp16(d, x));
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace flashbench::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif
