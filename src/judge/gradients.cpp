#include "judge/gradients.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "judge/units.hpp"
#include "worker/dtype.hpp"
#include "worker/hash.hpp"

namespace flashbench::judge {

namespace {

constexpr std::int64_t score_bytes = std::int64_t{128} << 20;  // held at once by a call

std::int64_t slice_rows(const Problem& problem) {
  const std::int64_t row = std::max<std::int64_t>(problem.seq_k, 1) * 24;
  return std::clamp<std::int64_t>(score_bytes / row, 4, 64);
}

void append(LeastErrors& to, const LeastErrors& rows) {
  to.terms.insert(to.terms.end(), rows.terms.begin(), rows.terms.end());
  to.scores.insert(to.scores.end(), rows.scores.begin(), rows.scores.end());
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
  const auto finite = [](double x) { return std::isfinite(x) ? x : 0; };
  std::vector<double> least = std::move(sums.least.terms);
  const std::size_t d = least.empty() ? 0 : sums.exact.size() / least.size();
  for (std::size_t i = 0; i < least.size(); ++i) {
    double largest = 0;
    for (std::size_t x = 0; x < d; ++x)
      largest = std::max(largest, std::fabs(finite(sums.exact[i * d + x])));
    const double term = std::fabs(scale) * half_unit(dtype) * finite(least[i]);
    least[i] = std::max(term, half_unit_at(dtype, largest)) +
               std::fabs(scale) * finite(sums.least.scores[i]);
  }
  return {std::move(sums.exact), std::move(sums.comparator), std::move(least), false};
}

GroupGradients cpu_gradients(const Inputs& inputs, const Group& group, bool rounded_scores,
                             const std::function<void()>& finished) {
  const Problem& problem = inputs.problem();
  const std::int64_t head = first_head(problem, group);
  const auto k = inputs.rows(Tensor::k, group.batch, group.kv_head, 0, problem.seq_k);
  const auto v = inputs.rows(Tensor::v, group.batch, group.kv_head, 0, problem.seq_k);
  const WildInputs wild = wild_inputs(inputs, group);
  const std::vector<double> k_double(k.begin(), k.end()), v_double(v.begin(), v.end());
  Backward<double> exact(problem, k_double, v_double, rounded_scores);
  Backward<float> other(problem, k, v, rounded_scores);
  LeastErrorsOfGroup least(problem, k_double, rounded_scores);
  GroupGradients result;
  // A slice's products run over all keys that its last row sees. One row at a time, none of them is
  // masked, and NaN goes exactly where it mathematically goes.
  const std::int64_t step = wild.any() ? 1 : slice_rows(problem);
  for (std::int64_t h = head; h < head + heads_of_group(problem); ++h) {
    GradientSums dq;
    for (std::int64_t first = 0; first < problem.seq_q; first += step) {
      const std::int64_t rows = std::min(step, problem.seq_q - first);
      const auto q = inputs.rows(Tensor::q, group.batch, h, first, rows);
      const auto d_o = inputs.rows(Tensor::d_o, group.batch, h, first, rows);
      const BackwardSlice<double> made = exact.add(q, d_o, first);
      append(dq.least, least.add(made));
      dq.exact.insert(dq.exact.end(), made.dq.begin(), made.dq.end());
      const BackwardSlice<float> rounded = other.add(q, d_o, first);
      dq.comparator.insert(dq.comparator.end(), rounded.dq.begin(), rounded.dq.end());
      finished();
    }
    result.dq.push_back(finished_gradient(problem.dtype, problem.scale, std::move(dq)));
    result.dq.back().spreads = wild.k || wild.v;
  }
  result.dk = finished_gradient(problem.dtype, problem.scale,
                                {std::move(exact.dk), std::move(other.dk), std::move(least.dk)});
  result.dk.spreads = wild.q || wild.v || wild.d_o;
  result.dv = finished_gradient(problem.dtype, 1,
                                {std::move(exact.dv), std::move(other.dv), std::move(least.dv)});
  result.dv.spreads = wild.q || wild.d_o;
  return result;
}

double least_error(const Gradient& gradient, const Block& block) {
  const auto first = gradient.least_error.begin() + block.first;
  return block.rows == 0 ? 0 : *std::max_element(first, first + block.rows);
}

}  // namespace flashbench::judge
