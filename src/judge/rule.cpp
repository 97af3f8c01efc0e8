#include "judge/rule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "judge/units.hpp"

namespace flashbench::judge {

namespace {

std::string place(const char* tensor, const std::array<std::int64_t, 4>& at) {
  const std::string row = fmt::format("{} at b={}, s={}, h={}", tensor, at[0], at[1], at[2]);
  return at[3] < 0 ? row : fmt::format("{}, x={}", row, at[3]);
}

// NaN whatever its sign, which says nothing.
std::string spelled(double value) {
  return std::isnan(value) ? "NaN" : fmt::format("{:.9g}", value);
}

constexpr std::int64_t no_column = -1;

// Element i of a block.
std::array<std::int64_t, 4> element(const Block& block, std::int64_t i, std::int64_t d) {
  return {block.batch, block.first + i / d, block.head, i % d};
}

// Keeps the first element that is finite or not where the reference is not so.
void misplace(Outcome& outcome, const char* tensor, const std::array<std::int64_t, 4>& at,
              double got, double wanted) {
  if (outcome.misplaced) return;
  outcome.misplaced = true;
  outcome.worst = at;
  outcome.reason = fmt::format("{} is {} where the reference is {}", place(tensor, at),
                               spelled(got), spelled(wanted));
}

// at(): the element's place. Two divisions tell it, so only what is kept is asked for it.
template <class Place>
void measure(Outcome& outcome, const char* tensor, Place at, double error, double bound) {
  outcome.max_abs = std::max(outcome.max_abs, error);
  outcome.squares += error * error;
  ++outcome.elements;
  const double ratio = error == 0  ? 0
                       : bound > 0 ? error / bound
                                   : std::numeric_limits<double>::infinity();
  if (ratio < outcome.ratio || outcome.misplaced) return;
  if (ratio == outcome.ratio && outcome.worst[0] >= 0) return;
  outcome.ratio = ratio;
  outcome.worst = at();
  if (ratio > 1)
    outcome.reason = fmt::format("{} is off by {:.3g}, more than the bound {:.3g}",
                                 place(tensor, outcome.worst), error, bound);
}

// Whether `got` is the infinity that a number within the bound becomes in the dtype.
bool may_overflow(double got, double wanted, double bound, Dtype dtype) {
  return std::isinf(got) && (got > 0 ? wanted : -wanted) + bound > largest_number(dtype);
}

// How far O of a row may move where each of its scores is off by up to `error`: docs/judging.md.
double moved_by_scores(double lse, double top, double error, double largest_v) {
  const double others = 1 - std::exp(top - lse);  // P of all keys but the first; NaN without keys
  if (!(others > 0)) return 0;
  const double a = std::min(others, 0.5), grown = std::expm1(2 * error);
  const double moved = std::isinf(grown) ? 1 - a : a * (1 - a) * grown / (1 + a * grown);
  return 2 * largest_v * moved;
}

void close(Outcome& outcome) {
  outcome.failed_blocks = outcome.misplaced || outcome.ratio > 1 ? 1 : 0;
}

}  // namespace

Outcome compare_o(const Block& block, const BlockReference& reference, const float* got,
                  std::int64_t d, double largest_v, std::span<const double> score_errors,
                  bool rounded_scores) {
  Outcome outcome;
  outcome.rows = block.rows;
  const double other =
      rounded_scores ? reference.rounded_scores_error.value() : reference.comparator_error;
  const double of_block = 2 * other + 1e-5 * std::min(1.0, largest_v);
  double bound = 0;
  for (std::int64_t i = 0; i < block.rows * d; ++i) {
    const auto at = [&] { return element(block, i, d); };
    if (i % d == 0) {
      const auto row = static_cast<std::size_t>(i / d);
      bound = std::max(of_block, moved_by_scores(reference.lse[row], reference.top[row],
                                                 score_errors[row], largest_v));
    }
    const double wanted = reference.o[static_cast<std::size_t>(i)], value = got[i];
    const bool same = std::isfinite(value) == std::isfinite(wanted);
    if (same && std::isfinite(value)) {
      measure(outcome, "o", at, std::fabs(value - wanted), bound);
    } else if (!same) {
      const bool excused = !std::isfinite(value) && std::binary_search(reference.excused.begin(),
                                                                       reference.excused.end(), i);
      if (!excused) misplace(outcome, "o", at(), value, wanted);
    }
  }
  close(outcome);
  return outcome;
}

Outcome compare_lse(const Block& block, const BlockReference& reference, const float* got,
                    std::span<const double> score_errors, Dtype dtype, bool rounded_scores) {
  Outcome outcome;
  outcome.rows = block.rows;
  for (std::int64_t i = 0; i < block.rows; ++i) {
    const auto at = [&] { return std::array{block.batch, block.first + i, block.head, no_column}; };
    const double wanted = reference.lse[static_cast<std::size_t>(i)], value = got[i];
    const double top = reference.top[static_cast<std::size_t>(i)];
    double bound = std::max(1e-5 * std::max(1.0, std::fabs(wanted)),
                            score_errors[static_cast<std::size_t>(i)]);
    if (rounded_scores) {  // lower scores than the top count as well, and may be larger in size
      const double finite_top = std::isfinite(top) ? std::fabs(top) : 0;
      bound =
          std::max(bound, 2 * half_unit_at(dtype, std::max({1.0, std::fabs(wanted), finite_top})));
    }
    if (std::isfinite(value) && std::isfinite(wanted)) {
      measure(outcome, "lse", at, std::fabs(value - wanted), bound);
    } else if (value != wanted && !(std::isnan(value) && std::isnan(wanted))) {
      misplace(outcome, "lse", at(), value, wanted);
    }
  }
  close(outcome);
  return outcome;
}

Outcome compare_gradient(const char* tensor, const Block& block, const double* wanted,
                         const float* comparator, const float* got, std::int64_t d, Dtype dtype,
                         double least, double largest, bool spreads) {
  Outcome outcome;
  outcome.rows = block.rows;
  double other = least;
  for (std::int64_t i = 0; i < block.rows * d; ++i) {
    const double error = std::fabs(static_cast<double>(comparator[i]) - wanted[i]);
    if (std::isfinite(error)) other = std::max(other, error);
  }
  const double bound = 3 * other + 1e-5 * std::min(1.0, largest);
  for (std::int64_t i = 0; i < block.rows * d; ++i) {
    const auto at = [&] { return element(block, i, d); };
    const bool finite = std::isfinite(got[i]), same = finite == std::isfinite(wanted[i]);
    if (same && finite)
      measure(outcome, tensor, at, std::fabs(static_cast<double>(got[i]) - wanted[i]), bound);
    else if (!same && (finite || (std::isfinite(comparator[i]) && !spreads &&
                                  !may_overflow(got[i], wanted[i], bound, dtype))))
      misplace(outcome, tensor, at(), got[i], wanted[i]);
  }
  close(outcome);
  return outcome;
}

void add(Outcome& sum, const Outcome& part) {
  const bool worse = sum.worst[0] < 0 || (part.misplaced && !sum.misplaced) ||
                     (part.misplaced == sum.misplaced && part.ratio > sum.ratio);
  if (worse && part.worst[0] >= 0) {
    sum.worst = part.worst;
    sum.reason = part.reason;
  }
  sum.max_abs = std::max(sum.max_abs, part.max_abs);
  sum.ratio = std::max(sum.ratio, part.ratio);
  sum.squares += part.squares;
  sum.elements += part.elements;
  sum.rows += part.rows;
  sum.failed_blocks += part.failed_blocks;
  sum.misplaced = sum.misplaced || part.misplaced;
}

TensorCheck to_check(const std::string& tensor, const Outcome& outcome, std::int64_t rows_total) {
  TensorCheck check;
  check.tensor = tensor;
  check.rows_checked = outcome.rows;
  check.rows_total = rows_total;
  if (outcome.elements > 0) {
    check.max_abs = outcome.max_abs;
    check.rmse = std::sqrt(outcome.squares / static_cast<double>(outcome.elements));
  }
  if (!outcome.misplaced && std::isfinite(outcome.ratio)) check.ratio = outcome.ratio;
  if (outcome.worst[0] >= 0) check.worst = outcome.worst;
  check.verdict = outcome.failed_blocks == 0 ? Verdict::pass : Verdict::fail;
  if (outcome.failed_blocks > 0)
    check.reason = fmt::format("{} ({} blocks of {} rows fail)", outcome.reason,
                               outcome.failed_blocks, block_rows);
  return check;
}

}  // namespace flashbench::judge
