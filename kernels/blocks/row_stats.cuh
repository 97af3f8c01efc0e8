// What leaves a kernel besides O: the row statistics it saves and, where Q tiles are visited again
// and again, the running O, m and l between two visits.
#pragma once

#include "kernels/blocks/copy.cuh"
#include "kernels/ladder/rung.hpp"

namespace flashbench::kernels {

// One float a row into a (B, Hq, Sq) array, each written by one lane of one warp.
template <class Warps, class F>
FLASHBENCH_INLINE void save_rows(const Warps& warps, float* rows, int first, int end, F value) {
  if (rows == nullptr || lane() % 4 != 0 || !warps.writes_rows) return;
  for_rows<Warps::row_blocks>(first + warps.first_row, end,
                              [&](int row, int i, int t) { rows[row] = value(i, t); });
}

template <Saved saved>
struct RowStats;

template <>
struct RowStats<Saved::m_and_l> {
  const ForwardArguments& a;

  template <class Warps>
  FLASHBENCH_INLINE void save(const Warps& warps, std::int64_t head_rows, int first,
                              const typename Warps::Row& m, const typename Warps::Row& l) const {
    const typename Warps::Row total = warps.total(l);
    save_rows(warps, a.m ? a.m + head_rows : nullptr, first, a.seq_q,
              [&](int i, int t) { return m.x[i][t] * a.scale; });
    save_rows(warps, a.l ? a.l + head_rows : nullptr, first, a.seq_q,
              [&](int i, int t) { return total.x[i][t]; });
  }
};

template <>
struct RowStats<Saved::log_sum_exp> {
  const ForwardArguments& a;

  template <class Warps>
  FLASHBENCH_INLINE void save(const Warps& warps, std::int64_t head_rows, int first,
                              const typename Warps::Row& m, const typename Warps::Row& l) const {
    const typename Warps::Row total = warps.total(l);
    save_rows(warps, a.lse ? a.lse + head_rows : nullptr, first, a.seq_q, [&](int i, int t) {
      return fmaf(m.x[i][t], a.scale, log_approximate(total.x[i][t]));
    });
  }
};

// O, m and l of a head between two visits of a Q tile, fp32 in HBM.
template <Tile tile>
struct Running {
  float *o, *m, *l;  // (Sq, d), (Sq), (Sq)
  int seq_q;

  FLASHBENCH_INLINE Running(const ForwardArguments& a, std::int64_t head_rows)
      : o(a.running_o + head_rows * tile.d),
        m(a.running_m + head_rows),
        l(a.running_l + head_rows),
        seq_q(a.seq_q) {}

  // What the last visit left; at the first one, what there is before any key.
  template <class Warps>
  FLASHBENCH_INLINE void load(const Warps& warps, int first, bool first_visit,
                              typename Warps::Output& o_, typename Warps::Row& m_,
                              typename Warps::Row& l_) const {
    fill(o_, 0), fill(m_, -INFINITY), fill(l_, 0);
    if (first_visit) return;
    for_rows<Warps::row_blocks>(first + warps.first_row, seq_q, [&](int row, int i, int t) {
      m_.x[i][t] = m[row];
      l_.x[i][t] = l[row];
      const float* in = o + std::int64_t{row} * tile.d + warps.first_column + lane_column();
#pragma unroll
      for (int n = 0; n < Warps::columns / 8; ++n) {
        const float2 x = *reinterpret_cast<const float2*>(in + n * 8);
        o_.x[i][n][2 * t] = x.x;
        o_.x[i][n][2 * t + 1] = x.y;
      }
    });
    l_ = warps.share(l_);
  }

  template <class Warps>
  FLASHBENCH_INLINE void store(const Warps& warps, int first, const typename Warps::Output& o_,
                               const typename Warps::Row& m_, const typename Warps::Row& l_) const {
    const typename Warps::Row total = warps.total(l_);
    save_rows(warps, m, first, seq_q, [&](int i, int t) { return m_.x[i][t]; });
    save_rows(warps, l, first, seq_q, [&](int i, int t) { return total.x[i][t]; });
    for_rows<Warps::row_blocks>(first + warps.first_row, seq_q, [&](int row, int i, int t) {
      float* out = o + std::int64_t{row} * tile.d + warps.first_column + lane_column();
#pragma unroll
      for (int n = 0; n < Warps::columns / 8; ++n)
        *reinterpret_cast<float2*>(out + n * 8) =
            make_float2(o_.x[i][n][2 * t], o_.x[i][n][2 * t + 1]);
    });
  }
};

}  // namespace flashbench::kernels
