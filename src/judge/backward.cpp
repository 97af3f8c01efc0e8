#include "judge/backward.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "judge/keys.hpp"
#include "judge/multiply.hpp"
#include "worker/dtype.hpp"

namespace flashbench::judge {

namespace {

// `x` as the dtype holds it; fp64 is never rounded.
double kept(Dtype, double x) {
  return x;
}
float kept(Dtype dtype, float x) {
  return rounded(dtype, x);
}

}  // namespace

template <class Real>
Backward<Real>::Backward(const Problem& problem, const std::vector<Real>& k,
                         const std::vector<Real>& v, bool rounded_scores)
    : dk(k.size()),
      dv(v.size()),
      problem_(problem),
      k_(k),
      v_(v),
      stored_(rounded_scores ? problem.dtype : Dtype::fp32) {}

// S becomes P.
template <class Real>
void Backward<Real>::softmax(BackwardSlice<Real>& made) const {
  for (std::int64_t i = 0; i < made.rows; ++i) {
    const std::int64_t visible = visible_keys(problem_, made.first + i);
    Real* row = made.p.data() + i * made.keys;
    Real top = -std::numeric_limits<Real>::infinity(), sum = 0;
    for (std::int64_t j = 0; j < visible; ++j) top = std::max(top, row[j]);
    for (std::int64_t j = 0; j < visible; ++j) sum += row[j] = std::exp(row[j] - top);
    for (std::int64_t j = 0; j < visible; ++j) row[j] = kept(problem_.dtype, row[j] / sum);
    std::fill(row + visible, row + made.keys, Real{0});
    if (visible > 0)
      made.scores[static_cast<std::size_t>(i)] =
          std::max(std::fabs(top), std::fabs(top + std::log(sum)));
  }
}

// dP becomes dS.
template <class Real>
void Backward<Real>::differentiate(BackwardSlice<Real>& made) const {
  for (std::size_t i = 0; i < made.o.size(); ++i)
    made.dots[i / static_cast<std::size_t>(problem_.head_dim)] +=
        made.d_o[i] * kept(problem_.dtype, made.o[i]);
  for (std::int64_t i = 0; i < made.rows; ++i)
    for (std::int64_t j = 0; j < made.keys; ++j) {
      const auto at = static_cast<std::size_t>(i * made.keys + j);
      const Real from_mean = kept(stored_, made.ds[at]) - made.dots[static_cast<std::size_t>(i)];
      made.ds[at] = j < visible_keys(problem_, made.first + i)
                        ? kept(problem_.dtype, made.p[at] * from_mean)
                        : 0;
    }
}

template <class Real>
BackwardSlice<Real> Backward<Real>::add(const std::vector<float>& q, const std::vector<float>& d_o,
                                        std::int64_t first) {
  constexpr auto as_is = Side::as_is, turned = Side::turned;
  const std::int64_t d = problem_.head_dim, rows = static_cast<std::int64_t>(q.size()) / d;
  const std::int64_t keys = visible_keys(problem_, first + rows - 1);
  BackwardSlice<Real> made;
  made.first = first;
  made.rows = rows;
  made.keys = keys;
  made.q.assign(q.begin(), q.end());
  made.d_o.assign(d_o.begin(), d_o.end());
  made.o.resize(q.size());
  made.dq.resize(q.size());
  made.dots.resize(static_cast<std::size_t>(rows));
  made.scores.resize(static_cast<std::size_t>(rows));
  if (keys == 0) return made;
  made.p.resize(static_cast<std::size_t>(rows * keys));
  made.ds.resize(made.p.size());
  multiply(as_is, turned, rows, keys, d, made.q.data(), k_.data(), 0, made.p.data());
  for (Real& x : made.p) x = kept(stored_, x * static_cast<Real>(problem_.scale));
  softmax(made);
  multiply(as_is, as_is, rows, d, keys, made.p.data(), v_.data(), 0, made.o.data());
  multiply(as_is, turned, rows, keys, d, made.d_o.data(), v_.data(), 0, made.ds.data());
  differentiate(made);
  multiply(as_is, as_is, rows, d, keys, made.ds.data(), k_.data(), 0, made.dq.data());
  multiply(turned, as_is, keys, d, rows, made.ds.data(), made.q.data(), 1, dk.data());
  multiply(turned, as_is, keys, d, rows, made.p.data(), made.d_o.data(), 1, dv.data());
  return made;
}

template class Backward<double>;
template class Backward<float>;

}  // namespace flashbench::judge
