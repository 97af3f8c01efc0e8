#include "cli/claims_sweep.hpp"

#include <algorithm>

namespace flashbench {

namespace {

constexpr std::int64_t k = 1024;

Sweep sweep_of(std::vector<std::string> impl, std::vector<Pass> pass,
               std::vector<std::int64_t> seq) {
  Sweep sweep;
  sweep.impl = std::move(impl);
  sweep.pass = std::move(pass);
  sweep.seq = std::move(seq);
  return sweep;
}

// On the CPU a count, since a pass there may take longer than a budget that a GPU fills with
// samples.
Options quickly(Backend backend, std::int64_t on_cpu) {
  Options options;
  options.time_budget_s = 0.25;
  if (backend == Backend::cpu) options.iters = on_cpu;
  return options;
}

bool is_there(const Roster& roster, const std::string& impl) {
  return std::ranges::any_of(roster.workers, [&](const WorkerFacts& worker) {
    return std::ranges::any_of(worker.hello.implementations, [&](const ImplementationFacts& facts) {
      return facts.name == impl;
    });
  });
}

// As many heads as v1 needs to be busy, on the CPU up to what is checked in reasonable time.
std::int64_t enough_heads(const Roster& roster) {
  const auto& device = roster.workers.front().hello.device;
  const std::int64_t processors = device ? device->multiprocessors.value_or(1) : 1;
  return std::clamp<std::int64_t>(processors, 2, roster.backend == Backend::cpu ? 8 : 256);
}

std::vector<Sweep> on_gpu(const Roster& roster) {
  Sweep throughput = sweep_of({"v1", "v2"}, {Pass::fwd}, {k, 2 * k, 4 * k, 8 * k});
  throughput.mask = {Mask::full, Mask::causal};
  const Sweep rivals =
      sweep_of({"pytorch-math", "v1", "v2", "pytorch-efficient"}, {Pass::fwd, Pass::bwd}, {2 * k});
  Sweep memory = sweep_of({"naive", "v2"}, {Pass::fwd_bwd}, {2 * k, 4 * k, 8 * k});
  memory.batch = {1};
  memory.head_dim = {64};
  std::vector<Sweep> sweeps{throughput, rivals, memory};
  std::vector<std::string> ablation{"ladder/logsumexp"};
  for (const char* idea : {"q-outer", "delayed-normalisation", "grid-over-q", "warps-along-q"})
    ablation.push_back(std::string("without/") + idea);
  std::erase_if(ablation, [&](const std::string& impl) { return !is_there(roster, impl); });
  if (!ablation.empty()) {
    sweeps.push_back(sweep_of(ablation, {Pass::fwd}, {4 * k}));
    sweeps.back().dtype = {Dtype::bf16};  // the rungs' one dtype
    sweeps.back().mask = {Mask::causal};
  }
  return sweeps;
}

std::vector<Sweep> on_cpu(const Roster& roster) {
  Sweep throughput = sweep_of({"v1", "v2"}, {Pass::fwd}, {k, 2 * k, 4 * k});
  throughput.mask = {Mask::full, Mask::causal};
  throughput.heads = {enough_heads(roster)};
  throughput.head_dim = {64};
  const Sweep rivals = sweep_of({"pytorch-math", "v1", "v2"}, {Pass::fwd, Pass::bwd}, {2 * k});
  Sweep memory = sweep_of({"naive", "v2"}, {Pass::fwd_bwd}, {k / 2, k, 2 * k});
  memory.head_dim = {64};
  return {throughput, rivals, memory};
}

}  // namespace

UserRequest claims_on_device(const Roster& roster, std::optional<double> time_budget_s) {
  Options options = quickly(roster.backend, 8);
  if (time_budget_s) {
    options.time_budget_s = *time_budget_s;
    options.iters.reset();
  }
  return {roster.backend == Backend::cuda ? on_gpu(roster) : on_cpu(roster), options, {}};
}

UserRequest claims_at_few_heads(const Roster& roster) {
  const bool gpu = roster.backend == Backend::cuda;
  Sweep one = sweep_of({"v1", "v2"}, {Pass::fwd}, {});
  one.seq = gpu ? std::vector<std::int64_t>{2 * k, 16 * k} : std::vector<std::int64_t>{k, 4 * k};
  one.batch = one.heads = {1};
  one.head_dim = {gpu ? 128 : 64};
  std::vector<Sweep> sweeps{one};
  if (gpu) {  // on the CPU they are among those of claims_on_device
    Sweep many = one;
    many.seq = {16 * k};
    many.heads = {enough_heads(roster)};
    sweeps.push_back(many);
  }
  Options options;
  options.iters = 8;       // some take a quarter of a second each
  options.counters = gpu;  // in a pass of its own, after these
  return {sweeps, options, {}};
}

UserRequest claims_by_counting() {
  const std::vector<std::string> all{"naive", "v1", "v2"};
  Sweep forward = sweep_of(all, {Pass::fwd}, {k, 2 * k});
  forward.mask = {Mask::full, Mask::causal};
  Sweep backward = sweep_of(all, {Pass::bwd}, {2 * k});
  for (Sweep* sweep : {&forward, &backward}) {
    sweep->heads = {1};
    sweep->head_dim = {64};
    sweep->dtype = {Dtype::fp32};
  }
  return {{forward, backward}, quickly(Backend::cpu, 1), {}};  // their times are not looked at
}

}  // namespace flashbench
