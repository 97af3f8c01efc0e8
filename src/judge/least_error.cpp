#include "judge/least_error.hpp"

#include <algorithm>
#include <cmath>

#include "judge/multiply.hpp"
#include "judge/row_errors.hpp"

namespace flashbench::judge {

namespace {

// The largest finite |x| of each row of d elements.
std::vector<double> largest_of_rows(const std::vector<double>& values, std::int64_t d) {
  std::vector<double> most(values.size() / static_cast<std::size_t>(d));
  for (std::size_t i = 0; i < values.size(); ++i) {
    double& row = most[i / static_cast<std::size_t>(d)];
    if (std::isfinite(values[i])) row = std::max(row, std::fabs(values[i]));
  }
  return most;
}

RowErrors errors_of(const BackwardSlice<double>& made, std::size_t row, std::size_t d,
                    bool rounded_scores) {
  const auto keys = static_cast<std::size_t>(made.keys);
  const double dot = made.dots[row];
  double squares = 0, top = 0;
  for (std::size_t at = row * d; at < (row + 1) * d; ++at)
    squares += std::pow(made.d_o[at] * made.o[at], 2);
  for (std::size_t at = row * keys; at < (row + 1) * keys; ++at) {
    squares += std::pow(made.ds[at] + made.p[at] * dot, 2);  // P dP
    top = larger(top, made.p[at]);
  }
  return row_errors(dot, squares, made.scores[row], top, rounded_scores);
}

}  // namespace

LeastErrorsOfGroup::LeastErrorsOfGroup(const Problem& problem, const std::vector<double>& k,
                                       bool rounded_scores)
    : problem_(problem),
      k_(k),
      k_most_(largest_of_rows(k, problem.head_dim)),
      rounded_scores_(rounded_scores && problem.dtype != Dtype::fp32) {
  const auto keys = static_cast<std::size_t>(problem.seq_k);
  dk = dv = {std::vector<double>(keys), std::vector<double>(keys)};
}

LeastErrors LeastErrorsOfGroup::add(const BackwardSlice<double>& made) {
  const std::int64_t d = problem_.head_dim;
  const auto rows = static_cast<std::size_t>(made.rows), keys = static_cast<std::size_t>(made.keys);
  LeastErrors dq{std::vector<double>(rows), std::vector<double>(rows)};
  if (keys == 0) return dq;
  std::vector<double> p_k(made.q.size());  // P K: an error of D is common to its row
  multiply(Side::as_is, Side::as_is, made.rows, d, made.keys, made.p.data(), k_.data(), 0,
           p_k.data());
  const std::vector<double> q_most = largest_of_rows(made.q, d),
                            d_o_most = largest_of_rows(made.d_o, d),
                            p_k_most = largest_of_rows(p_k, d);
  for (std::size_t i = 0; i < rows; ++i) {
    const RowErrors row = errors_of(made, i, static_cast<std::size_t>(d), rounded_scores_);
    double most = 0;
    for (std::size_t j = 0; j < keys; ++j) {
      const double p = made.p[i * keys + j], ds = made.ds[i * keys + j];
      const double units = units_of_ds(row, p, ds, rounded_scores_);
      most = larger(most, units * k_most_[j]);
      dk.terms[j] = larger(dk.terms[j], larger(units, p * row.dot_units) * q_most[i]);
      dk.scores[j] += fp32_of_ds(row, p, ds) * q_most[i];
      dv.terms[j] = larger(dv.terms[j], p * row.score_units * d_o_most[i]);
      dv.scores[j] += p * row.weight * d_o_most[i];
    }
    dq.terms[i] = larger(most, row.dot_units * p_k_most[i]);
    dq.scores[i] = row.weight * most + row.dot_of_weights * p_k_most[i];
  }
  return dq;
}

}  // namespace flashbench::judge
