#include "estimate/estimate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

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

bool drifts(const Row& row) {
  if (!row.drift || std::abs(*row.drift) <= drift_limit) return false;
  return std::abs(rank_deviate(*ends_of(row.time->samples))) > drift_deviate;
}

void set_flag(Row& row, const std::string& flag, bool on) {
  std::erase(row.flags, flag);
  if (on) row.flags.push_back(flag);
}

double rate_of(const std::vector<Ceiling>& ceilings, std::string_view wanted) {
  for (const Ceiling& ceiling : ceilings)
    if (ceiling.name == wanted && std::isfinite(ceiling.rate)) return ceiling.rate;
  return 0;
}

// Bytes of an operand when each element is moved once: what a kernel moves again, a cache may
// serve. O and dQ count as the fp32 accumulators that some algorithms keep in memory.
double bytes_once(const Problem& p, const std::string& operand) {
  const double element = p.dtype == Dtype::fp32 ? 4 : 2;
  const double queries =
      static_cast<double>(p.batch * p.heads) * static_cast<double>(p.seq_q * p.head_dim);
  const double keys =
      static_cast<double>(p.batch * p.kv_heads) * static_cast<double>(p.seq_k * p.head_dim);
  if (operand == "q" || operand == "do") return queries * element;
  if (operand == "o" || operand == "dq") return queries * 4;
  if (operand == "k" || operand == "v" || operand == "dk" || operand == "dv") return keys * element;
  return std::numeric_limits<double>::infinity();
}

double least_bytes(const Problem& problem, const Traffic& traffic) {
  double bytes = 0;
  for (const auto* direction : {&traffic.read, &traffic.written})
    for (const auto& [operand, moved] : *direction)
      bytes += std::min(moved, bytes_once(problem, operand));
  return bytes;
}

void derive_utilization(Row& row, const std::vector<Ceiling>& ceilings,
                        const std::optional<double>& peak_tflops) {
  if (row.tflops && peak_tflops && *peak_tflops > 0)
    row.utilization.peak = *row.tflops / *peak_tflops;
  if (!row.cost) return;
  const Floor floor = floor_of(kernel_floors(row.what.problem, *row.cost, ceilings));
  if (floor.binds.empty()) return;
  row.utilization.binds = floor.binds;
  row.utilization.floor_ms = 1e3 * floor.seconds;
  row.utilization.ceiling = *row.utilization.floor_ms / row.time->median;
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
    const std::size_t cut = cut_of(sorted.size());
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

std::optional<Ratio> ratio(const Time& over, const Time& under) {
  const auto positive = [](double ms) { return std::isfinite(ms) && ms > 0; };
  const auto low = [](const Time& time) { return has_interval(time) ? *time.low : time.median; };
  const auto high = [](const Time& time) { return has_interval(time) ? *time.high : time.median; };
  for (const Time* time : {&over, &under})
    if (!positive(time->median) || !positive(low(*time)) || !positive(high(*time)))
      return std::nullopt;
  const double value = over.median / under.median;
  const double down =
      std::hypot(std::log(over.median / low(over)), std::log(high(under) / under.median));
  const double up =
      std::hypot(std::log(high(over) / over.median), std::log(under.median / low(under)));
  const Ratio result{value, value * std::exp(-down), value * std::exp(up),
                     has_interval(over) && has_interval(under)};
  for (const double each : {result.value, result.low, result.high})
    if (!positive(each)) return std::nullopt;
  return result;
}

std::vector<KernelFloor> kernel_floors(const Problem& problem, const Cost& cost,
                                       const std::vector<Ceiling>& ceilings) {
  std::vector<KernelFloor> floors;
  for (const KernelCost& kernel : cost.kernels) {
    KernelFloor& floor = floors.emplace_back();
    floor.kernel = kernel.kernel;
    const std::pair<std::string, double> needs[] = {{std::string(name(kernel.pipe)), kernel.flops},
                                                    {"exp2", kernel.exponentials},
                                                    {"copy", least_bytes(problem, kernel.traffic)}};
    for (const auto& [resource, amount] : needs) {
      if (!(amount > 0)) continue;
      const double rate = rate_of(ceilings, resource);
      floor.terms.push_back({resource, amount, rate});
      if (rate <= 0 || amount / rate <= floor.seconds) continue;
      floor.seconds = amount / rate;
      floor.binds = resource;
    }
  }
  return floors;
}

Floor floor_of(const std::vector<KernelFloor>& kernels) {
  Floor floor;
  std::map<std::string, double> bound_by;
  for (const KernelFloor& kernel : kernels) {
    floor.seconds += kernel.seconds;
    if (!kernel.binds.empty()) bound_by[kernel.binds] += kernel.seconds;
  }
  double most = 0;
  for (const auto& [resource, seconds] : bound_by)
    if (seconds > most) {
      most = seconds;
      floor.binds = resource;
    }
  return floor;
}

void derive(Row& row, const std::vector<Ceiling>& ceilings,
            const std::optional<double>& peak_tflops) {
  row.tflops.reset();
  row.utilization = {};
  row.drift.reset();
  set_flag(row, "drift", false);
  if (row.flops.convention.empty()) row.flops = flops(row.what.problem, row.what.pass);
  if (row.status != Status::ok || !row.time || !(row.time->median > 0)) return;
  if (row.flops.counted > 0) row.tflops = row.flops.counted / (row.time->median * 1e-3) / 1e12;
  derive_utilization(row, ceilings, peak_tflops);
  row.drift = drift(row.time->samples);
  set_flag(row, "drift", drifts(row));
}

void add_speedups(std::vector<Row>& rows) {
  const auto measured = [](const Row& row) { return row.status == Status::ok && row.time; };
  const auto question = [](const Case& what) {
    return problem_key(what) + "/" + std::string(name(what.pass));
  };
  std::map<std::string, const Row*> first, ours;
  for (const Row& row : rows)
    if (measured(row) && row.what.source == "built-in")
      ours.try_emplace(question(row.what) + "/" + row.what.impl, &row);
  for (Row& row : rows) {
    row.speedup.reset();
    if (!measured(row)) continue;
    const Row* base = first.try_emplace(question(row.what), &row).first->second;
    if (row.what.source.starts_with("against:"))
      if (const auto own = ours.find(question(row.what) + "/" + row.what.impl); own != ours.end())
        base = own->second;
    std::string vs = base->what.impl;
    if (base->what.source != row.what.source) vs += " (" + base->what.source + ")";
    if (base == &row) {
      row.speedup = {vs, 1, 1, 1};
    } else if (const auto quotient = ratio(*base->time, *row.time)) {
      row.speedup = {vs, quotient->value, std::nullopt, std::nullopt};
      if (quotient->has_interval) {
        row.speedup->low = quotient->low;
        row.speedup->high = quotient->high;
      }
    }
  }
}

}  // namespace flashbench
