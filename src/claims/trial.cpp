#include "claims/trial.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <map>
#include <set>

namespace flashbench {

namespace {

bool is_within(const Bounds& figure, const Bounds& range) {
  const bool no_upper_end = std::isinf(range.high);
  return figure.low > range.low && (no_upper_end || figure.high < range.high);
}

bool is_outside(const Bounds& figure, const Bounds& range) {
  return figure.high <= range.low || figure.low >= range.high;
}

bool has_few_samples(const Row& row) {
  return row.time->n > 0 && row.time->n < least_for_interval;
}

// "v1 at 8k and 16k, v2 at 16k"
std::string listed(const std::map<std::string, std::set<std::int64_t>>& lengths) {
  std::vector<std::string> parts;
  for (const auto& [impl, seqs] : lengths) {
    std::vector<std::string> shown;
    for (const std::int64_t seq : seqs) shown.push_back(tokens(seq));
    parts.push_back(fmt::format("{} at {}", impl, fmt::join(shown, " and ")));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

Bounds above(double least) {
  return {least, Bounds{}.high};
}

Bounds below(double most) {
  return {-1, most};
}

Bounds near_document(double figure) {
  return {0.8 * figure, 1.2 * figure};
}

double time_quotient(const Row& over, const Row& under) {
  return over.time->median / under.time->median;
}

Bounds time_bounds(const Row& over, const Row& under) {
  return quotient_bounds(*over.time, *under.time);
}

std::string shown(const Bounds& bounds, int digits) {
  const bool has_low = bounds.low > 0, has_high = std::isfinite(bounds.high);
  if (has_low && has_high)
    return fmt::format("{:.{}f} to {:.{}f}", bounds.low, digits, bounds.high, digits);
  if (has_low) return fmt::format("at least {:.{}f}", bounds.low, digits);
  return has_high ? fmt::format("at most {:.{}f}", bounds.high, digits) : "no interval";
}

void Listing::add(const Row& row, std::optional<double> figure) {
  const Problem& problem = row.what.problem;
  std::string& line = by_head_dim_[problem.head_dim];
  line += fmt::format("{}{} {}", line.empty() ? "" : ", ", tokens(problem.seq_q),
                      figure ? fmt::format("{:.2f}", *figure) : "n/a");
}

std::string Listing::text() const {
  if (by_head_dim_.size() == 1) return by_head_dim_.begin()->second;
  std::string all;
  for (const auto& [head_dim, line] : by_head_dim_)
    all += fmt::format("{}d {}: {}", all.empty() ? "" : "; ", head_dim, line);
  return all;
}

void Trial::add(const Bounds& figure, const Bounds& range, const Rows& by) {
  if (is_within(figure, range)) return;
  if (is_outside(figure, range)) {
    outside_ = true;
    return;
  }
  open_ = true;
  undecided_.insert(undecided_.end(), by.begin(), by.end());
}

Finding Trial::finding(const std::string& figures) const {
  if (outside_) return stand(false, figures);
  return open_ ? open_by(undecided_, figures) : stand(true, figures);
}

Finding open_by(const Rows& rows, const std::string& figures) {
  std::map<std::string, std::set<std::int64_t>> few, bare;  // lengths by implementation
  for (const Row* row : rows)
    if (!has_interval(*row->time))
      (has_few_samples(*row) ? few : bare)[row->what.impl].insert(row->what.problem.seq_q);
  if (!few.empty())
    return cannot_tell(
        fmt::format("fewer than six samples of {}; raise --time-budget: {}", listed(few), figures));
  if (!bare.empty())
    return cannot_tell(
        fmt::format("the report gives no 95 % interval of {}: {}", listed(bare), figures));
  return cannot_tell("the 95 % interval is too wide to decide: " + figures);
}

}  // namespace flashbench
