#include "cli/dry_run.hpp"
#include "cli/console.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "cli/columns.hpp"
#include "cli/describer.hpp"
#include "cli/known_roster.hpp"
#include "cli/output.hpp"
#include "compare/exit_code.hpp"
#include "plan/plan.hpp"

namespace flashbench {

namespace {

struct Tensors {
  double inputs = 0, outputs = 0;  // bytes
};

Tensors tensors_of(const Case& what) {
  const Problem& p = what.problem;
  const double element = p.dtype == Dtype::fp32 ? 4 : 2;
  const double rows =
      static_cast<double>(p.batch) * static_cast<double>(p.seq_q) * static_cast<double>(p.heads);
  const double q = element * rows * static_cast<double>(p.head_dim);
  const double k = element * static_cast<double>(p.batch) * static_cast<double>(p.seq_k) *
                   static_cast<double>(p.kv_heads) * static_cast<double>(p.head_dim);
  const double statistics = 4 * rows;
  Tensors bytes{q + 2 * k, q + statistics};
  if (what.pass != Pass::fwd) {
    bytes.inputs += q;           // dO
    bytes.outputs += q + 2 * k;  // dQ, dK, dV
  }
  return bytes;
}

Row planned_row(const Case& what, Describer& describer) {
  Row row;
  row.what = what;
  row.flops = flops(what.problem, what.pass);
  row.reason = "dry run: nothing was measured";
  const Tensors bytes = tensors_of(what);
  row.memory.inputs_bytes = static_cast<std::int64_t>(bytes.inputs);
  row.memory.outputs_bytes = static_cast<std::int64_t>(bytes.outputs);
  const Describer::Answer answer = describer.ask(what);
  if (answer.status != Status::ok && answer.status != Status::not_run) {
    row.status = answer.status;
    row.reason = answer.reason;
  }
  if (answer.body) {
    row.cost = answer.body->cost;
    row.memory.workspace_bytes = answer.body->cost.workspace_bytes;
  }
  return row;
}

// What the implementation's own model says, else each tensor once.
double bytes_moved(const Row& row) {
  if (!row.cost) {
    const Tensors bytes = tensors_of(row.what);
    return bytes.inputs + bytes.outputs;
  }
  double total = 0;
  for (const KernelCost& kernel : row.cost->kernels) total += kernel.traffic.total();
  return total;
}

// Two input sets, their outputs, and what the implementation needs beyond.
double memory_needed(const Row& row) {
  return 2 * static_cast<double>(*row.memory.inputs_bytes) +
         static_cast<double>(*row.memory.outputs_bytes) +
         static_cast<double>(row.memory.workspace_bytes.value_or(0));
}

// Seconds, to the order of magnitude: the time budget or the samples, and the check by the judge.
double seconds_expected(const Row& row, const Options& options) {
  if (row.status == Status::unsupported) return 0;
  constexpr double cpu_rate = 5e10, gpu_rate = 2e14, judge_rate = 5e9;  // FLOP/s, careful guesses
  const double rate = row.what.backend == Backend::cuda ? gpu_rate : cpu_rate;
  const double once = row.flops.exact / rate;
  const double samples = static_cast<double>(options.iters.value_or(options.min_samples));
  double seconds = options.iters ? samples * once : std::max(options.time_budget_s, samples * once);
  if (options.check == Check::only) seconds = 0;
  if (options.check != Check::none) seconds += 2 * row.flops.exact / judge_rate;
  return seconds;
}

std::string note_of(const Row& row) {
  return row.status == Status::not_run ? "" : fmt::format("{}: {}", name(row.status), row.reason);
}

std::string table_of(const std::vector<Row>& rows, const Options& options) {
  std::vector<std::vector<std::string>> lines{
      {"implementation", "pass", "batch", "heads", "kv", "seq", "seq-k", "head-dim", "dtype",
       "mask", "GFLOP", "exact GFLOP", "moved MB", "memory MB", "about s", ""}};
  double seconds = 0;
  for (const Row& row : rows) {
    const Problem& p = row.what.problem;
    const double expected = seconds_expected(row, options);
    seconds += expected;
    lines.push_back({row.what.impl, std::string(name(row.what.pass)), fmt::format("{}", p.batch),
                     fmt::format("{}", p.heads), fmt::format("{}", p.kv_heads),
                     fmt::format("{}", p.seq_q), fmt::format("{}", p.seq_k),
                     fmt::format("{}", p.head_dim), std::string(name(p.dtype)),
                     std::string(name(p.mask)), fmt::format("{:.3f}", row.flops.counted / 1e9),
                     fmt::format("{:.3f}", row.flops.exact / 1e9),
                     fmt::format("{:.2f}", bytes_moved(row) / 1e6),
                     fmt::format("{:.2f}", memory_needed(row) / 1e6),
                     fmt::format("{:.1f}", expected), note_of(row)});
  }
  std::vector<bool> right(lines[0].size(), true);
  for (const std::size_t left : {0, 1, 8, 9, 15}) right[left] = false;
  return in_columns(lines, right) +
         fmt::format(
             "\n{} cases, about {:.0f} s in all (a rough guess); MB are 1e6 bytes; memory is "
             "two input sets, the outputs and the workspace\n",
             rows.size(), seconds);
}

}  // namespace

int dry_run(const RunWords& words) {
  const Options& options = words.request.options;
  std::string why;
  const Roster roster = roster_or_known(options.device, &why);
  for (const std::string& notice : roster.notices) print_error("flashbench: {}\n", notice);
  if (!why.empty()) print_error("flashbench: planning without a worker: {}\n", why);
  const Plan plan = make_plan(words.request, roster);
  if (plan.cases.empty()) {
    print_error("flashbench: 0 of {} cases matched --filter\n", plan.before_filter);
    return exit_code::nothing;
  }
  const auto& device = roster.workers.front().hello.device;
  Report report = blank_report(words.request, device ? &*device : nullptr);
  report.device.backend = roster.backend;
  Describer describer(roster);
  for (const Case& what : plan.cases) report.rows.push_back(planned_row(what, describer));
  const bool written = write_outputs(report, options, words.wide);
  if (!stdout_is_taken(options)) std::fputs(table_of(report.rows, options).c_str(), stdout);
  return written ? exit_code::ok : exit_code::usage;
}

}  // namespace flashbench
