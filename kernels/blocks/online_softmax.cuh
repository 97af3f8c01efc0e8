// Softmax over keys that arrive tile by tile. m is the largest score seen, in units of S; l the sum
// of exp(scale * (S - m)). Exponents are taken in base 2, the scale folded into one multiply-add.
//
// The scale is positive here. A negative one turns the sign of S first, and scale 0 makes S zero,
// so that the largest weight always belongs to the largest score and -inf always means "not
// visible".
#pragma once

#include <cfloat>

#include "kernels/blocks/fragments.cuh"
#include "kernels/blocks/tile.hpp"
#include "kernels/ladder/rung.hpp"

namespace flashbench::kernels {

// A row that has seen no key has m = -inf; -FLT_MAX stands for it in differences, which then are 0
// or -inf where they would be NaN.
FLASHBENCH_INLINE float finite(float m) {
  return fmaxf(m, -FLT_MAX);
}

struct Exponentials {
  float scale_log2, sign;

  FLASHBENCH_INLINE explicit Exponentials(const ForwardArguments& a)
      : scale_log2(a.scale_log2), sign(a.sign) {}

  template <int row_blocks, int columns>
  FLASHBENCH_INLINE void orient(Fragment<row_blocks, columns>& s) const {
    if (sign == 1) return;
    Rows<row_blocks> factor;
    fill(factor, sign);
    multiply_rows(s, factor);
  }

  // What a sum relative to `from` is multiplied by to be relative to `to`.
  template <int row_blocks>
  FLASHBENCH_INLINE Rows<row_blocks> correction(const Rows<row_blocks>& from,
                                                const Rows<row_blocks>& to) const {
    Rows<row_blocks> factor;
#pragma unroll
    for (int i = 0; i < row_blocks; ++i)
#pragma unroll
      for (int t = 0; t < 2; ++t)
        factor.x[i][t] = exp2_approximate((finite(from.x[i][t]) - finite(to.x[i][t])) * scale_log2);
    return factor;
  }

  // The multiply-add of `weights` rounds scale * m, which shifts a row's exponents by up to 2^-24
  // of it: nothing for everyday scores, infinity for huge ones. Those take the difference first.
  // Rows that have seen no key count as huge.
  template <int row_blocks>
  FLASHBENCH_INLINE bool far(const Rows<row_blocks>& m) const {
    float largest = 0;
#pragma unroll
    for (int i = 0; i < row_blocks; ++i)
#pragma unroll
      for (int t = 0; t < 2; ++t) largest = fmaxf(largest, fabsf(m.x[i][t] * scale_log2));
    return __any_sync(every_lane, largest > 256);
  }
  template <int row_blocks, int columns>
  FLASHBENCH_INLINE static void take_off(Fragment<row_blocks, columns>& s,
                                         const Rows<row_blocks>& m) {
    each(s, [&](float x, int i, int t) { return x - finite(m.x[i][t]); });
  }

  // S, from which m has been taken off if far, becomes P = exp(scale * (S - m)); with
  // Raise::in_product, its exponents in base 2. No branch lies between this and the product, or
  // they could not overlap.
  template <Raise raise, int row_blocks, int columns>
  FLASHBENCH_INLINE void weights(Fragment<row_blocks, columns>& s, const Rows<row_blocks>& m,
                                 bool is_far) const {
    Rows<row_blocks> offset;
#pragma unroll
    for (int i = 0; i < row_blocks; ++i)
#pragma unroll
      for (int t = 0; t < 2; ++t) offset.x[i][t] = is_far ? 0 : m.x[i][t] * scale_log2;
    each(s, [&](float x, int i, int t) {
      const float exponent = fmaf(x, scale_log2, -offset.x[i][t]);
      return raise == Raise::in_product ? exponent : exp2_approximate(exponent);
    });
  }

 private:
  template <int row_blocks, int columns, class F>
  FLASHBENCH_INLINE static void each(Fragment<row_blocks, columns>& s, F f) {
#pragma unroll
    for (int i = 0; i < row_blocks; ++i)
#pragma unroll
      for (int n = 0; n < columns / 8; ++n)
#pragma unroll
        for (int t = 0; t < 4; ++t) s.x[i][n][t] = f(s.x[i][n][t], i, t / 2);
  }
};

// 1 / l, and 1 for a row that has seen no key: its O is zero already.
template <int row_blocks>
FLASHBENCH_INLINE Rows<row_blocks> reciprocal(const Rows<row_blocks>& l) {
  Rows<row_blocks> r;
#pragma unroll
  for (int i = 0; i < row_blocks; ++i)
#pragma unroll
    for (int t = 0; t < 2; ++t) r.x[i][t] = l.x[i][t] == 0 ? 1 : reciprocal_approximate(l.x[i][t]);
  return r;
}

template <Normalize normalize>
struct Softmax;

// O stays a plain sum and is divided by l at the end. m follows the largest score only when that
// pays: until then P merely grows past 1, and O need not be touched. It pays before P reaches 256,
// and where the new key's weight would be above an eighth of the row's sum: relative to its own
// score its weight is 1, and nothing is lost when it is rounded to 16 bits. (A lane's l is about a
// quarter of the row's.) Each lane decides for its own keys; the row's maximum is only made when a
// lane says yes. That is the one branch of a step. Whether scores are far from zero can only change
// with m, and is kept in `is_far` from step to step.
template <>
struct Softmax<Normalize::once> : Exponentials {
  using Exponentials::Exponentials;

  template <class Warps>
  FLASHBENCH_INLINE void step(const Warps& warps, typename Warps::Scores& s, typename Warps::Row& m,
                              typename Warps::Row& l, typename Warps::Output& o,
                              bool& is_far) const {
    typename Warps::Row highest = m;
    warps.own_max(highest, s);
    bool risen = is_far;
#pragma unroll
    for (int i = 0; i < Warps::row_blocks; ++i)
#pragma unroll
      for (int t = 0; t < 2; ++t)
        risen |= exp2_approximate((highest.x[i][t] - m.x[i][t]) * scale_log2) >
                 fminf(fmaxf(l.x[i][t] * (Warps::lanes_a_row / 8.0f), 1), 256);
    if (__any_sync(every_lane, risen)) {
      warps.merge_max(highest);
      const typename Warps::Row factor = correction(m, highest);
      m = highest;
      multiply(l, factor);
      multiply_rows(o, factor);
      is_far = far(m);
      if (is_far) take_off(s, m);
    }
    weights<Warps::raise>(s, m, is_far);
  }

  template <class Warps>
  FLASHBENCH_INLINE void settle(const Warps&, typename Warps::Output&,
                                const typename Warps::Row&) const {}

  template <class Warps>
  FLASHBENCH_INLINE void finish(const Warps& warps, typename Warps::Output& o,
                                const typename Warps::Row& l) const {
    multiply_rows(o, reciprocal(warps.total(l)));
  }
};

// O is a mean after every step: multiplied by l before it, divided by the new l after it.
template <>
struct Softmax<Normalize::each_step> : Exponentials {
  using Exponentials::Exponentials;

  template <class Warps>
  FLASHBENCH_INLINE void step(const Warps& warps, typename Warps::Scores& s, typename Warps::Row& m,
                              typename Warps::Row& l, typename Warps::Output& o,
                              bool& is_far) const {
    typename Warps::Row highest = m;
    warps.row_max(highest, s);
    multiply(l, correction(m, highest));
    m = highest;
    multiply_rows(o, warps.total(l));
    is_far = far(m);
    if (is_far) take_off(s, m);
    weights<Warps::raise>(s, m, is_far);
  }

  template <class Warps>
  FLASHBENCH_INLINE void settle(const Warps& warps, typename Warps::Output& o,
                                const typename Warps::Row& l) const {
    multiply_rows(o, reciprocal(warps.total(l)));
  }

  template <class Warps>
  FLASHBENCH_INLINE void finish(const Warps&, typename Warps::Output&,
                                const typename Warps::Row&) const {}
};

}  // namespace flashbench::kernels
