#include "record/row.hpp"

#include <algorithm>

namespace flashbench {

double Traffic::total() const {
  double bytes = 0;
  for (const auto& [operand, count] : read) bytes += count;
  for (const auto& [operand, count] : written) bytes += count;
  return bytes;
}

std::string identity(const Row& row) {
  return row.recorded_key.empty() ? key(row.what) : row.recorded_key;
}

const Report& origin_of(const Report& report, const Row& row) {
  return row.origin && *row.origin < report.origins.size() ? report.origins[*row.origin] : report;
}

bool has_interval(const Time& time) {
  return time.low && time.high && (time.n == 0 || time.n >= least_for_interval);
}

std::optional<double> modelled_bytes(const Row& row) {
  if (!row.cost || row.unrecorded.contains("traffic/model")) return std::nullopt;
  double bytes = 0;
  for (const KernelCost& kernel : row.cost->kernels) bytes += kernel.traffic.total();
  return bytes;
}

std::optional<double> executed_flops(const Row& row) {
  if (!row.cost) return std::nullopt;
  double flops = 0;
  for (std::size_t i = 0; i < row.cost->kernels.size(); ++i) {
    if (row.unrecorded.contains("cost/kernels/" + std::to_string(i) + "/flops"))
      return std::nullopt;
    flops += row.cost->kernels[i].flops;
  }
  return flops;
}

std::optional<double> modelled_bytes(const Row& row, const std::string& operand) {
  if (!modelled_bytes(row)) return std::nullopt;
  double bytes = 0;
  for (const KernelCost& kernel : row.cost->kernels)
    for (const auto* direction : {&kernel.traffic.read, &kernel.traffic.written})
      if (const auto found = direction->find(operand); found != direction->end())
        bytes += found->second;
  return bytes;
}

bool keeps_rounded_scores(const Problem& problem, const Cost& cost) {
  if (problem.dtype == Dtype::fp32) return false;
  return std::ranges::any_of(cost.kernels, [&](const KernelCost& kernel) {
    const auto bytes = kernel.traffic.written.find("scores");
    if (bytes == kernel.traffic.written.end() || bytes->second <= 0) return false;
    const double scores = kernel.flops / (2 * static_cast<double>(problem.head_dim));
    return bytes->second <= 2 * scores;
  });
}

}  // namespace flashbench
