#include "doctor/resolution.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "compare/compare.hpp"
#include "compare/pairs.hpp"
#include "estimate/estimate.hpp"

namespace flashbench {

namespace {

// Relative, whichever of the two is the smaller.
double distance(double quotient) {
  return std::max(quotient, 1 / quotient) - 1;
}

bool is_timed(const Row& row) {
  return row.status == Status::ok && row.time && row.time->median > 0;
}

std::optional<double> median_of(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

class Spreading {
 public:
  void add(const Row& base, const Row& now) {
    if (!is_timed(base) || !is_timed(now)) return;
    Pair pair;
    pair.threshold = CompareOptions{}.threshold;
    judge_pair(pair, base, now);
    if (!pair.time) return;
    ++spread_.pairs;
    spread_.largest = std::max(spread_.largest, distance(pair.time->value));
    // Had the one been slower by this much, the interval would have left out 1; whichever is the
    // one, hence the larger of both.
    farthest_ = std::max({farthest_, distance(pair.time->low), distance(pair.time->high)});
    all_have_intervals_ = all_have_intervals_ && pair.time->has_interval;
    if (pair.change == Change::faster || pair.change == Change::slower) ++spread_.alarms;
  }
  Spread result() const {
    Spread spread = spread_;
    if (spread.pairs > 0 && all_have_intervals_) spread.resolved = farthest_;
    return spread;
  }

 private:
  Spread spread_;
  double farthest_ = 0;
  bool all_have_intervals_ = true;
};

// What needs no pairs.
void take_single_rows(Resolution& result, const std::vector<Twins>& repeats) {
  std::vector<double> medians, widths, clocks;
  std::set<std::string> flags;
  std::optional<std::int64_t> least;
  for (const Twins& twins : repeats)
    for (const Row* row : {&twins.one, &twins.other}) {
      flags.insert(row->flags.begin(), row->flags.end());
      if (row->clock_mhz) clocks.push_back(*row->clock_mhz);
      if (!is_timed(*row)) continue;
      medians.push_back(row->time->median);
      widths.push_back(relative_half_width(*row->time));
      least = std::min(least.value_or(row->time->n), row->time->n);
    }
  result.median_ms = median_of(medians);
  result.clock_mhz = median_of(clocks);
  result.half_width = median_of(widths);
  if (!std::ranges::all_of(widths, [](double width) { return std::isfinite(width); }))
    result.half_width.reset();
  result.least_samples = least.value_or(0);
  result.flags.assign(flags.begin(), flags.end());
}

}  // namespace

Resolution resolution_of(const std::string& name, const std::vector<Twins>& repeats) {
  Resolution result;
  result.name = name;
  if (!repeats.empty()) result.what = repeats.front().one.what;
  Spreading same, others;
  for (std::size_t i = 0; i < repeats.size(); ++i) {
    same.add(repeats[i].one, repeats[i].other);
    for (std::size_t j = 0; j < i; ++j) {
      others.add(repeats[j].one, repeats[i].one);
      others.add(repeats[j].other, repeats[i].other);
    }
  }
  result.same_rounds = same.result();
  result.other_runs = others.result();
  take_single_rows(result, repeats);
  return result;
}

std::optional<double> smallest_step(std::vector<double> times_ms) {
  std::ranges::sort(times_ms);
  std::optional<double> step;
  for (std::size_t i = 1; i < times_ms.size(); ++i) {
    const double difference = times_ms[i] - times_ms[i - 1];
    if (difference > 0 && (!step || difference < *step)) step = difference;
  }
  return step;
}

}  // namespace flashbench
