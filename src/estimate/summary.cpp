#include "estimate/summary.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace flashbench {

namespace {

// A drift is flagged above this, relative, ...
constexpr double drift_limit = 0.05;
// ... and where chance alone would order the first and the last samples so clearly in less than one
// row of a thousand: the standard normal deviate of 0.1 %, two-sided.
constexpr double drift_deviate = 3.29;

// `sorted` is not empty; linear between order statistics.
double quantile(const std::vector<double>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return quantile(values, 0.5);
}

// How many order statistics may be cut off at each end so that what is left still covers the median
// with 95 %: the largest k with P(Binomial(n, 1/2) < k) <= 2.5 %. From least_for_interval on.
std::size_t cut_of(std::size_t n) {
  if (n > 1000) {
    const double real = static_cast<double>(n);
    return static_cast<std::size_t>(real / 2 - 0.98 * std::sqrt(real)) - 1;
  }
  double term = std::pow(0.5, static_cast<double>(n)), below = 0;
  std::size_t k = 0;
  while (below + term <= 0.025) {
    below += term;
    term *= static_cast<double>(n - k) / static_cast<double>(k + 1);
    ++k;
  }
  return k - 1;  // order statistics k and n + 1 - k, counted from 1
}

// Samples that follow each other are not independent where the clock goes in steps, and are worth
// fewer. By how much: the variance of the means of so many stretches of samples, above or below the
// median, over what it would be were they independent. Up to twice may be chance (of one run in a
// hundred), and counts as 1.
double inflation(const std::vector<Sample>& samples, double median) {
  constexpr std::size_t stretches = 16;
  std::vector<double> sides;
  for (const Sample& sample : samples)
    if (std::isfinite(sample.ms))
      sides.push_back(sample.ms > median ? 1 : sample.ms < median ? -1 : 0);
  const auto n = static_cast<double>(sides.size());
  if (sides.size() < 2 * stretches) return 1;
  double sum = 0, squares = 0, of_means = 0;
  for (const double side : sides) sum += side, squares += side * side;
  for (std::size_t i = 0; i < stretches; ++i) {
    const std::size_t first = i * sides.size() / stretches,
                      last = (i + 1) * sides.size() / stretches;
    double stretch = 0;
    for (std::size_t at = first; at < last; ++at) stretch += sides[at];
    of_means += std::pow(stretch / static_cast<double>(last - first) - sum / n, 2);
  }
  const double variance = squares / n - sum / n * (sum / n);
  if (!(variance > 0)) return 1;
  const double found = of_means / (stretches - 1) * (n / stretches) / variance;
  return found > 2 ? found : 1;
}

// As many of n as cut_of leaves out of the samples that they are worth; none of fewer than six.
std::size_t cut_of(std::size_t n, double inflation) {
  const auto worth = static_cast<std::size_t>(static_cast<double>(n) / inflation);
  if (worth == n) return cut_of(n);
  return worth < least_for_interval ? 0 : cut_of(worth) * n / worth;
}

struct Ends {
  std::vector<double> first, last;
};

std::optional<Ends> ends_of(const std::vector<Sample>& samples) {
  if (samples.size() < least_for_drift) return std::nullopt;
  const std::size_t count = std::max(least_for_drift / 4, samples.size() / 10);
  Ends ends;
  for (std::size_t i = 0; i < count; ++i) {
    ends.first.push_back(samples[i].ms);
    ends.last.push_back(samples[samples.size() - 1 - i].ms);
  }
  return ends;
}

// The Mann-Whitney test on ranks, which assumes no distribution: how many standard deviations the
// sum of the last samples' ranks lies from what it would be if they were like the first. Equal
// times share their ranks.
double rank_deviate(const Ends& ends) {
  std::vector<std::pair<double, bool>> all;  // and whether it is one of the last
  for (const double ms : ends.first) all.emplace_back(ms, false);
  for (const double ms : ends.last) all.emplace_back(ms, true);
  std::sort(all.begin(), all.end());
  const auto n = static_cast<double>(all.size()), half = static_cast<double>(ends.last.size());
  double sum = 0, ties = 0;
  for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    while (end < all.size() && all[end].first == all[begin].first) ++end;
    const auto equal = static_cast<double>(end - begin);
    const double rank = static_cast<double>(begin + end + 1) / 2;  // ranks begin with 1
    for (std::size_t i = begin; i < end; ++i) sum += all[i].second ? rank : 0;
    ties += equal * (equal * equal - 1);
  }
  const double variance = half * half / 12 * (n + 1 - ties / (n * (n - 1)));
  return variance > 0 ? (sum - half * (n + 1) / 2) / std::sqrt(variance) : 0;
}

}  // namespace

Time summarize(std::vector<Sample> samples) {
  Time time;
  std::vector<double> sorted;
  for (const Sample& sample : samples)
    if (std::isfinite(sample.ms)) sorted.push_back(sample.ms);
  time.samples = std::move(samples);
  time.n = static_cast<std::int64_t>(sorted.size());
  if (sorted.empty()) return time;
  std::sort(sorted.begin(), sorted.end());
  time.median = quantile(sorted, 0.5);
  if (time.n >= least_for_interval) {
    const std::size_t cut = cut_of(sorted.size(), inflation(time.samples, time.median));
    time.low = sorted[cut];
    time.high = sorted[sorted.size() - 1 - cut];
  }
  time.min = sorted.front();
  time.p05 = quantile(sorted, 0.05);
  time.p95 = quantile(sorted, 0.95);
  double sum = 0, squares = 0;
  for (const double ms : sorted) sum += ms;
  time.mean = sum / static_cast<double>(time.n);
  for (const double ms : sorted) squares += (ms - time.mean) * (ms - time.mean);
  if (time.n > 1) time.stddev = std::sqrt(squares / static_cast<double>(time.n - 1));
  return time;
}

double relative_half_width(const Time& time) {
  if (!has_interval(time) || !(time.median > 0)) return std::numeric_limits<double>::infinity();
  return (*time.high - *time.low) / 2 / time.median;
}

std::optional<double> drift(const std::vector<Sample>& samples) {
  const std::optional<Ends> ends = ends_of(samples);
  const double before = ends ? median_of(ends->first) : 0;
  return before > 0 ? std::optional(median_of(ends->last) / before - 1) : std::nullopt;
}

bool drifts(const std::vector<Sample>& samples) {
  const std::optional<double> found = drift(samples);
  return found && std::abs(*found) > drift_limit &&
         std::abs(rank_deviate(*ends_of(samples))) > drift_deviate;
}

}  // namespace flashbench
