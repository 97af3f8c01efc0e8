#include "worker/convert.hpp"

#include <algorithm>
#include <array>

namespace flashbench {

namespace {

constexpr std::array<const char*, FLASHBENCH_OPERANDS> operands{
    "q", "k", "v", "o", "statistics", "scores", "do", "dq", "dk", "dv"};

Traffic traffic_from_c(const FlashbenchTraffic& traffic) {
  Traffic result;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (traffic.read[i] != 0) result.read[operands[i]] = traffic.read[i];
    if (traffic.written[i] != 0) result.written[operands[i]] = traffic.written[i];
  }
  return result;
}

std::string text(const char* name) {
  return name ? name : "";
}

// -1 in the header is nothing in a record.
std::optional<std::int64_t> known(std::int64_t value) {
  return value < 0 ? std::nullopt : std::optional(value);
}

}  // namespace

std::uint32_t pass_bits(Pass pass) {
  switch (pass) {
    case Pass::fwd:
      return FLASHBENCH_FORWARD;
    case Pass::bwd:
      return FLASHBENCH_BACKWARD;
    case Pass::fwd_bwd:
      break;
  }
  return FLASHBENCH_FORWARD | FLASHBENCH_BACKWARD;
}

std::uint32_t instance_bits(Pass pass) {
  return pass_bits(pass) | FLASHBENCH_FORWARD;
}

FlashbenchProblem to_c(const Problem& problem, std::uint32_t passes) {
  FlashbenchProblem c{};
  c.batch = problem.batch;
  c.query_heads = problem.heads;
  c.kv_heads = problem.kv_heads;
  c.seq_q = problem.seq_q;
  c.seq_k = problem.seq_k;
  c.head_dim = problem.head_dim;
  c.dtype = static_cast<FlashbenchDtype>(problem.dtype);
  c.mask = static_cast<FlashbenchMask>(problem.mask);
  c.layout = static_cast<FlashbenchLayout>(problem.layout);
  c.passes = passes;
  c.deterministic = problem.deterministic ? 1 : 0;
  c.scale = problem.scale;
  c.alignment = 256;
  return c;
}

Cost from_c(const FlashbenchCost& cost) {
  Cost result;
  result.workspace_bytes = cost.workspace_bytes;
  for (std::uint32_t i = 0; i < std::min<std::uint32_t>(cost.kernel_count, FLASHBENCH_MAX_KERNELS);
       ++i) {
    const FlashbenchKernelCost& kernel = cost.kernels[i];
    result.kernels.push_back({text(kernel.kernel), static_cast<Pipe>(kernel.pipe), kernel.flops,
                              kernel.exponentials, traffic_from_c(kernel.traffic)});
  }
  if (cost.saves & FLASHBENCH_SAVES_LSE) result.saves.push_back("lse");
  if (cost.saves & FLASHBENCH_SAVES_M_AND_L) result.saves.insert(result.saves.end(), {"m", "l"});
  return result;
}

Counts from_c(const FlashbenchCounts& counts) {
  return {traffic_from_c(counts.traffic),
          counts.exponentials,
          counts.divisions,
          counts.corrections,
          counts.merges,
          counts.barriers,
          counts.flops};
}

std::vector<Launch> launches_of(const FlashbenchInstance& instance) {
  std::vector<Launch> launches;
  for (std::uint32_t i = 0;
       i < std::min<std::uint32_t>(instance.launch_count, FLASHBENCH_MAX_KERNELS); ++i) {
    const FlashbenchLaunch& c = instance.launches[i];
    Launch launch{text(c.kernel),
                  known(c.registers),
                  known(c.spilled_bytes),
                  known(c.threads),
                  known(c.shared_bytes),
                  known(c.blocks),
                  known(c.blocks_per_multiprocessor),
                  std::nullopt};
    if (c.waves >= 0) launch.waves = c.waves;
    launches.push_back(std::move(launch));
  }
  return launches;
}

}  // namespace flashbench
