#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "doctor/resolution.hpp"
#include "estimate/estimate.hpp"

namespace flashbench {

namespace {

// Others may have these shares of the machine before they are worth a word.
constexpr double notable_busy = 0.1, notable_stolen = 0.01;

using Advice = std::vector<std::string>;

void on_load(Advice& advice, const MachineState& machine) {
  const auto cpus = static_cast<double>(machine.cpus);
  if (machine.load && *machine.load > cpus)
    advice.push_back(
        fmt::format("load average {:.2g} on {} CPUs: others take turns with what is measured; stop "
                    "them or wait",
                    *machine.load, machine.cpus));
  if (machine.busy && *machine.busy > notable_busy)
    advice.push_back(
        fmt::format("the CPUs were {:.0f} % busy before anything was measured: stop other programs",
                    100 * *machine.busy));
  if (machine.stolen && *machine.stolen > notable_stolen)
    advice.push_back(
        fmt::format("the host took {:.1f} % of the CPUs' time (steal): other guests share them; "
                    "a machine of its own would be steadier",
                    100 * *machine.stolen));
  if (machine.cpu_quota && *machine.cpu_quota < cpus)
    advice.push_back(
        fmt::format("the control group allows {:.2g} of {} CPUs: threads are stopped in every "
                    "period; raise cpu.max, or pin to fewer CPUs with taskset",
                    *machine.cpu_quota, machine.cpus));
}

void on_cpu_clocks(Advice& advice, const MachineState& machine) {
  if (!machine.governor.empty() && machine.governor != "performance")
    advice.push_back(fmt::format(
        "the governor of the CPUs' clocks is {}: cpupower frequency-set -g performance keeps them "
        "up",
        machine.governor));
  if (machine.turbo.value_or(false))
    advice.emplace_back(
        "turbo is on: the clocks follow heat and neighbours; off, they are lower and steadier");
}

bool any_flag(const Diagnosis& diagnosis, const std::string& flag) {
  return std::ranges::any_of(diagnosis.rows, [&](const Resolution& row) {
    return std::ranges::find(row.flags, flag) != row.flags.end();
  });
}

void on_gpu(Advice& advice, const Diagnosis& diagnosis) {
  const auto& limit = diagnosis.device.power_limit_w;
  if (any_flag(diagnosis, "power_capped"))
    advice.push_back(fmt::format(
        "the power limit{} held the GPU's clocks down: lock them lower (nvidia-smi -lgc) to have "
        "them steady",
        limit ? fmt::format(" of {:g} W", *limit) : ""));
  if (any_flag(diagnosis, "throttled"))
    advice.emplace_back("the GPU's clocks were held down or low: see to its cooling and supply");
  if (any_flag(diagnosis, "contended"))
    advice.emplace_back("another process was on the GPU: stop it (nvidia-smi names it)");
  if (any_flag(diagnosis, "cpu_bound"))
    advice.emplace_back(
        "the CPU enqueues more slowly than the GPU runs: short rows show the CPU; free it, or "
        "measure larger problems");
}

void on_row(Advice& advice, const Resolution& row, double time_budget_s) {
  const auto has = [&](const char* flag) {
    return std::ranges::find(row.flags, flag) != row.flags.end();
  };
  if (!row.half_width && row.median_ms)
    advice.push_back(
        fmt::format("{} row: --time-budget {:g} let a repeat take {} of the {} samples that an "
                    "interval needs: give it more",
                    row.name, time_budget_s, row.least_samples, least_for_interval));
  else if (has("imprecise"))
    advice.push_back(
        fmt::format("{} row: --time-budget {:g} ended it before it was precise: give it more, here "
                    "and in runs",
                    row.name, time_budget_s));
  if (has("drift"))
    advice.push_back(fmt::format(
        "{} row: it ended more than 5 % slower or faster than it began: let the machine settle",
        row.name));
  const Spread& runs = row.other_runs;
  const double threshold = std::ceil(100 * runs.largest);
  if (runs.alarms > 0)
    advice.push_back(fmt::format(
        "{} row: compare would call {} of {} pairs of runs of the same code FASTER or SLOWER: {}",
        row.name, runs.alarms, runs.pairs,
        threshold < 100
            ? fmt::format("give it --threshold {:.0f}%, or compare with --against", threshold)
            : "runs cannot be compared as long as the machine is like this"));
}

}  // namespace

Advice advice_on(const Diagnosis& diagnosis) {
  Advice advice;
  on_load(advice, diagnosis.machine);
  if (diagnosis.device.backend == Backend::cpu) on_cpu_clocks(advice, diagnosis.machine);
  if (diagnosis.device.backend == Backend::cuda) on_gpu(advice, diagnosis);
  for (const Resolution& row : diagnosis.rows) on_row(advice, row, diagnosis.time_budget_s);
  return advice;
}

}  // namespace flashbench
