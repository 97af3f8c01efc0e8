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

// On the CPU as many heads as v1 needs to be busy, up to what is checked in reasonable time.
std::int64_t cpu_heads(const Roster& roster) {
  const auto& device = roster.workers.front().hello.device;
  const std::int64_t threads = device ? device->multiprocessors.value_or(1) : 1;
  return std::clamp<std::int64_t>(threads, 2, 8);
}

std::vector<Sweep> on_gpu(const Roster& roster) {
  Sweep throughput = sweep_of({"v1", "v2"}, {Pass::fwd}, {k, 2 * k, 4 * k, 8 * k});
  throughput.mask = {Mask::full, Mask::causal};
  Sweep one_head = sweep_of({"v1", "v2"}, {Pass::fwd}, {8 * k});
  one_head.batch = one_head.heads = {1};
  const Sweep rivals =
      sweep_of({"pytorch-math", "v1", "v2", "pytorch-efficient"}, {Pass::fwd, Pass::bwd}, {2 * k});
  Sweep memory = sweep_of({"naive", "v2"}, {Pass::fwd_bwd}, {2 * k, 4 * k, 8 * k});
  memory.batch = {1};
  memory.head_dim = {64};
  std::vector<Sweep> sweeps{throughput, one_head, rivals, memory};
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
  throughput.heads = {cpu_heads(roster)};
  throughput.head_dim = {64};
  Sweep one_head = sweep_of({"v1", "v2"}, {Pass::fwd}, {4 * k});
  one_head.head_dim = {64};
  const Sweep rivals = sweep_of({"pytorch-math", "v1", "v2"}, {Pass::fwd, Pass::bwd}, {2 * k});
  Sweep memory = sweep_of({"naive", "v2"}, {Pass::fwd_bwd}, {k / 2, k, 2 * k});
  memory.head_dim = {64};
  return {throughput, one_head, rivals, memory};
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

UserRequest claims_by_counting() {
  const std::vector<std::string> all{"naive", "v1", "v2"};
  Sweep forward = sweep_of(all, {Pass::fwd}, {2 * k});
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
