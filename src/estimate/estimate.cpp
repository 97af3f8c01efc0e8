#include "estimate/estimate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace flashbench {

namespace {

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
  set_flag(row, "drift", row.drift && drifts(row.time->samples));
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
