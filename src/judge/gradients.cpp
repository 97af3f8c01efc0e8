#include "judge/gradients.hpp"

#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "judge/keys.hpp"
#include "worker/dtype.hpp"
#include "worker/hash.hpp"

namespace flashbench::judge {

namespace {

constexpr std::int64_t score_bytes = std::int64_t{128} << 20;  // held at once by a call

std::int64_t slice_rows(const Problem& problem) {
  const std::int64_t row = std::max<std::int64_t>(problem.seq_k, 1) * 24;
  return std::clamp<std::int64_t>(score_bytes / row, 4, 64);
}

void gemm(bool a_turned, bool b_turned, int m, int n, int k, const double* a, const double* b,
          double add, double* c) {
  cblas_dgemm(CblasRowMajor, a_turned ? CblasTrans : CblasNoTrans,
              b_turned ? CblasTrans : CblasNoTrans, m, n, k, 1, a, a_turned ? m : k, b,
              b_turned ? k : n, add, c, n);
}

void gemm(bool a_turned, bool b_turned, int m, int n, int k, const float* a, const float* b,
          float add, float* c) {
  cblas_sgemm(CblasRowMajor, a_turned ? CblasTrans : CblasNoTrans,
              b_turned ? CblasTrans : CblasNoTrans, m, n, k, 1, a, a_turned ? m : k, b,
              b_turned ? k : n, add, c, n);
}

// `x` as the dtype holds it; fp64 is never rounded.
double kept(Dtype, double x) {
  return x;
}
float kept(Dtype dtype, float x) {
  return rounded(dtype, x);
}

// The largest finite |x| of each row of d elements.
template <class Real>
std::vector<Real> largest_of_rows(const std::vector<Real>& values, std::int64_t d) {
  std::vector<Real> most(values.size() / static_cast<std::size_t>(d));
  for (std::size_t i = 0; i < values.size(); ++i) {
    Real& row = most[i / static_cast<std::size_t>(d)];
    if (std::isfinite(values[i])) row = std::max(row, std::fabs(values[i]));
  }
  return most;
}

// Half a unit in the last place, relative, at its largest.
double half_unit(Dtype dtype) {
  return dtype == Dtype::bf16 ? 0x1p-8 : dtype == Dtype::fp16 ? 0x1p-11 : 0x1p-24;
}

// The backward of one group in Real: fp64 is the reference, fp32 the comparator. The gradients are
// sums without the scale, not yet rounded.
template <class Real>
class Backward {
 public:
  Backward(const Problem& problem, const std::vector<Real>& k, const std::vector<Real>& v,
           bool rounded_scores)
      : dk(k.size()),
        dv(v.size()),
        dk_term(static_cast<std::size_t>(problem.seq_k)),
        dv_term(dk_term),
        problem_(problem),
        k_(k),
        v_(v),
        k_most_(largest_of_rows(k, problem.head_dim)),
        stored_(rounded_scores ? problem.dtype : Dtype::fp32) {}

  std::vector<Real> dk, dv;
  // The largest |term| of the sums of each row of dk and dv, and of the last slice's rows of dq.
  std::vector<Real> dk_term, dv_term, dq_term;
  // Query rows from `first` on of one head; writes dq's rows and adds to dk and dv.
  void slice(const std::vector<float>& q_rows, const std::vector<float>& d_o_rows,
             std::int64_t first, Real* dq);

 private:
  void softmax(std::vector<Real>& s, std::int64_t first, std::int64_t rows,
               std::int64_t keys) const;
  // D = rowsum(dO * O), (rows).
  std::vector<Real> row_dots(const std::vector<Real>& p, const std::vector<Real>& d_o,
                             std::int64_t rows, std::int64_t keys) const;

  void find_terms(const std::vector<Real>& p, const std::vector<Real>& ds,
                  const std::vector<Real>& q, const std::vector<Real>& d_o, std::int64_t keys);

  const Problem& problem_;
  const std::vector<Real>&k_, &v_;
  std::vector<Real> k_most_;  // the largest |element| of each key
  Dtype stored_;              // of S and dP
};

template <class Real>
void Backward<Real>::find_terms(const std::vector<Real>& p, const std::vector<Real>& ds,
                                const std::vector<Real>& q, const std::vector<Real>& d_o,
                                std::int64_t keys) {
  const std::vector<Real> q_most = largest_of_rows(q, problem_.head_dim),
                          d_o_most = largest_of_rows(d_o, problem_.head_dim);
  dq_term.assign(q_most.size(), 0);
  for (std::size_t i = 0; i < q_most.size(); ++i)
    for (std::size_t j = 0; j < static_cast<std::size_t>(keys); ++j) {
      const std::size_t at = i * static_cast<std::size_t>(keys) + j;
      const Real size = std::fabs(ds[at]);
      dq_term[i] = std::max(dq_term[i], size * k_most_[j]);
      dk_term[j] = std::max(dk_term[j], size * q_most[i]);
      dv_term[j] = std::max(dv_term[j], p[at] * d_o_most[i]);
    }
}

template <class Real>
void Backward<Real>::softmax(std::vector<Real>& s, std::int64_t first, std::int64_t rows,
                             std::int64_t keys) const {
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t visible = visible_keys(problem_, first + i);
    Real* row = s.data() + i * keys;
    Real top = -std::numeric_limits<Real>::infinity(), sum = 0;
    for (std::int64_t j = 0; j < visible; ++j) top = std::max(top, row[j]);
    for (std::int64_t j = 0; j < visible; ++j) sum += row[j] = std::exp(row[j] - top);
    for (std::int64_t j = 0; j < visible; ++j) row[j] = kept(problem_.dtype, row[j] / sum);
    std::fill(row + visible, row + keys, Real{0});
  }
}

template <class Real>
std::vector<Real> Backward<Real>::row_dots(const std::vector<Real>& p, const std::vector<Real>& d_o,
                                           std::int64_t rows, std::int64_t keys) const {
  const std::int64_t d = problem_.head_dim;
  std::vector<Real> o(d_o.size()), dots(static_cast<std::size_t>(rows));
  gemm(false, false, static_cast<int>(rows), static_cast<int>(d), static_cast<int>(keys), p.data(),
       v_.data(), 0, o.data());
  for (std::size_t i = 0; i < o.size(); ++i)
    dots[i / static_cast<std::size_t>(d)] += d_o[i] * kept(problem_.dtype, o[i]);
  return dots;
}

template <class Real>
void Backward<Real>::slice(const std::vector<float>& q_rows, const std::vector<float>& d_o_rows,
                           std::int64_t first, Real* dq) {
  const auto d = static_cast<int>(problem_.head_dim);
  const auto rows = static_cast<std::int64_t>(q_rows.size()) / d;
  const std::int64_t keys = visible_keys(problem_, first + rows - 1);
  if (keys == 0) {
    std::fill_n(dq, rows * d, Real{0});
    dq_term.assign(static_cast<std::size_t>(rows), 0);
    return;
  }
  const auto m = static_cast<int>(rows), n = static_cast<int>(keys);
  const std::vector<Real> q(q_rows.begin(), q_rows.end()), d_o(d_o_rows.begin(), d_o_rows.end());
  const auto scale = static_cast<Real>(problem_.scale);
  std::vector<Real> p(static_cast<std::size_t>(rows * keys)), ds(p.size());
  gemm(false, true, m, n, d, q.data(), k_.data(), 0, p.data());
  for (Real& x : p) x = kept(stored_, x * scale);
  softmax(p, first, rows, keys);
  const std::vector<Real> dots = row_dots(p, d_o, rows, keys);
  gemm(false, true, m, n, d, d_o.data(), v_.data(), 0, ds.data());
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < keys; ++j) {
      const auto at = static_cast<std::size_t>(i * keys + j);
      const bool seen = j < visible_keys(problem_, first + i);
      ds[at] = seen ? kept(problem_.dtype,
                           p[at] * (kept(stored_, ds[at]) - dots[static_cast<std::size_t>(i)]))
                    : 0;
    }
  find_terms(p, ds, q, d_o, keys);
  gemm(false, false, m, d, n, ds.data(), k_.data(), 0, dq);
  gemm(true, false, n, d, m, ds.data(), q.data(), 1, dk.data());
  gemm(true, false, n, d, m, p.data(), d_o.data(), 1, dv.data());
}

bool all_finite(const std::vector<float>& values) {
  return std::ranges::all_of(values, [](float x) { return std::isfinite(x); });
}

// Which of a group's inputs hold NaN or infinity.
struct WildInputs {
  bool q = false, k = false, v = false, d_o = false;
  bool any() const { return q || k || v || d_o; }
};

WildInputs wild_inputs(const Inputs& inputs, const Group& group) {
  const Problem& problem = inputs.problem();
  const auto wild = [&](Tensor tensor, std::int64_t head) {
    const std::int64_t rows = shape_of(problem, tensor).seq;
    return !all_finite(inputs.rows(tensor, group.batch, head, 0, rows));
  };
  WildInputs found{false, wild(Tensor::k, group.kv_head), wild(Tensor::v, group.kv_head), false};
  const std::int64_t head = first_head(problem, group);
  for (std::int64_t h = head; h < head + heads_of_group(problem); ++h) {
    found.q = found.q || wild(Tensor::q, h);
    found.d_o = found.d_o || wild(Tensor::d_o, h);
  }
  return found;
}

}  // namespace

std::vector<Group> groups_to_compare(const Problem& problem, std::uint64_t seed, double limit) {
  const std::int64_t total = problem.batch * problem.kv_heads;
  const double each =
      std::max(flops(problem, Pass::fwd_bwd).exact / static_cast<double>(total), 1.0);
  const std::int64_t budget = std::max<std::int64_t>(
      static_cast<std::int64_t>(std::min(limit / each, static_cast<double>(total))), 1);
  std::set<std::int64_t> chosen{0};
  if (budget > 1) chosen.insert(total - 1);
  for (std::int64_t i = 0; budget == total && i < total; ++i) chosen.insert(i);
  for (std::uint64_t draw = 0; static_cast<std::int64_t>(chosen.size()) < budget; ++draw)
    chosen.insert(static_cast<std::int64_t>(mix(mix(seed + 2) + draw * 0x9e3779b97f4a7c15u) %
                                            static_cast<std::uint64_t>(total)));
  std::vector<Group> groups;
  for (const std::int64_t number : chosen)
    groups.push_back({number / problem.kv_heads, number % problem.kv_heads});
  return groups;
}

std::int64_t heads_of_group(const Problem& problem) {
  return problem.heads / problem.kv_heads;
}

std::int64_t first_head(const Problem& problem, const Group& group) {
  return group.kv_head * heads_of_group(problem);
}

std::int64_t gradients_footprint(const Problem& problem) {
  const std::int64_t rows = heads_of_group(problem) * problem.seq_q + 6 * problem.seq_k;
  return rows * problem.head_dim * 12 + slice_rows(problem) * problem.seq_k * 24 + (1 << 20);
}

bool all_finite(const Inputs& inputs, const Group& group) {
  return !wild_inputs(inputs, group).any();
}

Gradient finished_gradient(Dtype dtype, double scale, GradientSums&& sums) {
  for (double& x : sums.exact) x *= scale;
  for (float& x : sums.comparator) x = rounded(dtype, x * static_cast<float>(scale));
  for (double& x : sums.terms)
    x = std::isfinite(x) ? x * std::fabs(scale) * half_unit(dtype) : 0;  // to errors
  return {std::move(sums.exact), std::move(sums.comparator), std::move(sums.terms), false};
}

GroupGradients cpu_gradients(const Inputs& inputs, const Group& group, bool rounded_scores,
                             const std::function<void()>& finished) {
  const Problem& problem = inputs.problem();
  const std::int64_t head = first_head(problem, group), d = problem.head_dim;
  const auto k = inputs.rows(Tensor::k, group.batch, group.kv_head, 0, problem.seq_k);
  const auto v = inputs.rows(Tensor::v, group.batch, group.kv_head, 0, problem.seq_k);
  const WildInputs wild = wild_inputs(inputs, group);
  const std::vector<double> k_double(k.begin(), k.end()), v_double(v.begin(), v.end());
  Backward<double> exact(problem, k_double, v_double, rounded_scores);
  Backward<float> other(problem, k, v, rounded_scores);
  GroupGradients result;
  const auto elements = static_cast<std::size_t>(problem.seq_q * d);
  // A slice's products run over all keys that its last row sees. One row at a time, none of them is
  // masked, and NaN goes exactly where it mathematically goes.
  const std::int64_t step = wild.any() ? 1 : slice_rows(problem);
  for (std::int64_t h = head; h < head + heads_of_group(problem); ++h) {
    GradientSums dq{std::vector<double>(elements), std::vector<float>(elements), {}};
    for (std::int64_t first = 0; first < problem.seq_q; first += step) {
      const std::int64_t rows = std::min(step, problem.seq_q - first);
      const auto q = inputs.rows(Tensor::q, group.batch, h, first, rows);
      const auto d_o = inputs.rows(Tensor::d_o, group.batch, h, first, rows);
      exact.slice(q, d_o, first, dq.exact.data() + first * d);
      dq.terms.insert(dq.terms.end(), exact.dq_term.begin(), exact.dq_term.end());
      other.slice(q, d_o, first, dq.comparator.data() + first * d);
      finished();
    }
    result.dq.push_back(finished_gradient(problem.dtype, problem.scale, std::move(dq)));
    result.dq.back().spreads = wild.k || wild.v;
  }
  result.dk =
      finished_gradient(problem.dtype, problem.scale,
                        {std::move(exact.dk), std::move(other.dk), std::move(exact.dk_term)});
  result.dk.spreads = wild.q || wild.v || wild.d_o;
  result.dv = finished_gradient(
      problem.dtype, 1, {std::move(exact.dv), std::move(other.dv), std::move(exact.dv_term)});
  result.dv.spreads = wild.q || wild.d_o;
  return result;
}

double least_error(const Gradient& gradient, const Block& block) {
  const auto first = gradient.least_error.begin() + block.first;
  return block.rows == 0 ? 0 : *std::max_element(first, first + block.rows);
}

}  // namespace flashbench::judge
