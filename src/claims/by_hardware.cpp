// By a GPU's hardware counters, by what the device is, and by its measured ceilings.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "claims/findings.hpp"
#include "claims/trial.hpp"
#include "record/document.hpp"
#include "record/hardware_counters.hpp"

namespace flashbench::findings {

namespace {

using Metrics = std::initializer_list<const char*>;

// 0 where it is missing: see counted().
double metric(const Row& row, const char* name) {
  const auto found = row.measured.find(name);
  return found == row.measured.end() ? 0 : found->second.value_or(0);
}

bool has_all(const Row& row, const Metrics& metrics) {
  return std::ranges::all_of(metrics, [&](const char* name) {
    const auto found = row.measured.find(name);
    return found != row.measured.end() && found->second;
  });
}

// The longest pair of v1 and v2 of which all these were counted.
std::optional<RowPair> counted(const Report& report, const Metrics& metrics) {
  std::vector<RowPair> pairs = timed_pairs(report, v1, v2);
  std::erase_if(pairs, [&](const RowPair& pair) {
    return !has_all(*pair.one, metrics) || !has_all(*pair.other, metrics);
  });
  return pairs.empty() ? std::nullopt : std::optional(pairs.back());
}

Finding uncounted(const Report& report) {
  if (report.device.backend != Backend::cuda) return cannot_tell("hardware counters are a GPU's");
  for (const Wanted& wanted : {v1, v2})
    for (const Row* row : rows_of(report, wanted))
      if (!row->uncounted.empty()) return cannot_tell("no hardware counters: " + row->uncounted);
  return cannot_tell(fmt::format("no hardware counters of {} and {}: measure with --counters",
                                 described(v1), described(v2)));
}

std::string length_of(const RowPair& pair) {
  return tokens(pair.one->what.problem.seq_q) + " queries: ";
}

double best_rate(const Report& report, std::initializer_list<std::string_view> names) {
  double best = 0;
  for (const Ceiling& ceiling : report.ceilings)
    if (std::ranges::find(names, ceiling.name) != names.end()) best = std::max(best, ceiling.rate);
  return best;
}

}  // namespace

Finding v1_moves_more_bytes(const Report& report) {
  using namespace counters;
  const auto pair = counted(report, {dram_read, dram_written, l2_read, l2_written});
  if (!pair) return uncounted(report);
  const auto gigabytes = [](const Row& row, const char* read, const char* written) {
    return (metric(row, read) + metric(row, written)) / 1e9;
  };
  const double one = gigabytes(*pair->one, dram_read, dram_written);
  const double two = gigabytes(*pair->other, dram_read, dram_written);
  return stand(one > two,
               fmt::format("{}GB from and to DRAM: v1 {:.4g}, v2 {:.4g} (from and to L2: {:.4g}, "
                           "{:.4g})",
                           length_of(*pair), one, two, gigabytes(*pair->one, l2_read, l2_written),
                           gigabytes(*pair->other, l2_read, l2_written)));
}

Finding v1_keeps_tensor_cores_less_busy(const Report& report) {
  const auto pair = counted(report, {counters::tensor_percent});
  if (!pair) return uncounted(report);
  const double one = metric(*pair->one, counters::tensor_percent);
  const double two = metric(*pair->other, counters::tensor_percent);
  return stand(one < two, fmt::format("{}tensor pipes busy in v1 {:.1f} % of the cycles, v2 {:.1f}",
                                      length_of(*pair), one, two));
}

Finding v1_waits_and_shares_more(const Report& report) {
  using namespace counters;
  const auto pair = counted(report, {barrier_percent, shared_wavefronts});
  if (!pair) return uncounted(report);
  const auto gigabytes = [](const Row& row) {
    return metric(row, shared_wavefronts) * shared_wavefront_bytes / 1e9;
  };
  const double waits[] = {metric(*pair->one, barrier_percent),
                          metric(*pair->other, barrier_percent)};
  const double shared[] = {gigabytes(*pair->one), gigabytes(*pair->other)};
  return stand(
      waits[0] > waits[1] && shared[0] > shared[1],
      fmt::format("{}at barriers v1 {:.1f} % of a warp's cycles, v2 {:.1f}; through shared "
                  "memory v1 {:.4g} GB, v2 {:.4g}",
                  length_of(*pair), waits[0], waits[1], shared[0], shared[1]));
}

// With every tensor moved once, at the best rates that were measured.
Finding products_outlast_the_least_traffic(const Report& report) {
  const Rows rows = timed_rows(report, v2);
  if (rows.empty()) return cannot_tell(why_none(report, v2));
  Listing factors;
  bool as_said = true;
  for (const Row* row : rows) {
    const Report& origin = origin_of(report, *row);
    const double products = best_rate(origin, {"sgemm", "gemm", "mma", "wgmma"});
    const double copy = best_rate(origin, {"copy"});
    const auto in = row->memory.inputs_bytes, out = row->memory.outputs_bytes;
    if (!(products > 0) || !(copy > 0)) return cannot_tell("no ceilings of products and copying");
    if (!in || !out || *in + *out <= 0) return cannot_tell("v2's rows do not say their bytes");
    const double factor = row->flops.counted / products / (static_cast<double>(*in + *out) / copy);
    as_said = as_said && factor > 1;
    factors.add(*row, factor);
  }
  return stand(as_said, "time of the products over that of moving: " + factors.text());
}

Finding device_is_the_documents_a100(const Report& report) {
  const DeviceFacts& device = report.device;
  if (device.name.find("A100") == std::string::npos)
    return cannot_tell(
        fmt::format("this is {}, not an A100", device.name.empty() ? "another" : device.name));
  if (!device.peak_tflops || !device.peak_gbps || !device.shared_bytes_per_multiprocessor)
    return cannot_tell("the report does not say peaks and shared memory");
  const double shared = static_cast<double>(*device.shared_bytes_per_multiprocessor) / 1024;
  const Bounds bandwidth = near_document(document::a100_gbps);
  return stand(*device.peak_tflops == document::a100_peak_tflops &&
                   *device.peak_gbps > bandwidth.low && *device.peak_gbps < bandwidth.high &&
                   shared == document::a100_shared_kib,
               fmt::format("{:g} TFLOPS, {:g} GB/s, {:g} KiB of shared memory an SM",
                           *device.peak_tflops, *device.peak_gbps, shared));
}

Finding blocks_have_four_to_eight_warps(const Report& report) {
  if (report.device.backend != Backend::cuda) return cannot_tell("a CPU's blocks have no warps");
  std::vector<std::string> figures;
  bool as_said = true;
  for (const Wanted& wanted : {v1, v2}) {
    Rows rows = timed_rows(report, wanted);
    std::erase_if(rows, [](const Row* row) {
      return row->launches.empty() || !row->launches.front().threads;
    });
    if (rows.empty()) return cannot_tell(fmt::format("no launches of {}", described(wanted)));
    const std::int64_t warps = *rows.back()->launches.front().threads / 32;
    as_said = as_said && warps >= 4 && warps <= 8;
    figures.push_back(fmt::format("{} {}", wanted.impl, warps));
  }
  return stand(as_said, fmt::format("warps a block: {}", fmt::join(figures, ", ")));
}

}  // namespace flashbench::findings
