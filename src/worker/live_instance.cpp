#include "worker/live_instance.hpp"

#include <fmt/format.h>

#include <cstring>

#include "worker/convert.hpp"

namespace flashbench {

namespace {

FlashbenchCost cost_of(const FlashbenchImplementation& implementation, DeviceBackend& backend,
                       const Problem& problem, Pass pass) {
  const FlashbenchProblem c = to_c(problem, instance_bits(pass));
  return flashbench::cost_of(implementation, backend.device(), c, c.passes);
}

std::string absurdity_of(const FlashbenchCost& cost) {
  if (cost.kernel_count > FLASHBENCH_MAX_KERNELS)
    return fmt::format("it says that it has {} kernels, where {} are the most", cost.kernel_count,
                       static_cast<int>(FLASHBENCH_MAX_KERNELS));
  for (std::uint32_t i = 0; i < cost.kernel_count; ++i)
    if (const int pipe = cost.kernels[i].pipe; pipe < 0 || pipe > FLASHBENCH_PIPE_WGMMA)
      return fmt::format("it names a pipe {}, which there is not", pipe);
  return flashbench::absurdity_of(from_c(cost));
}

}  // namespace

void require_ok(FlashbenchStatus status, const FlashbenchMessage& message,
                const std::string& what) {
  if (status == FLASHBENCH_OK) return;
  const auto* end = static_cast<const char*>(std::memchr(message.text, 0, sizeof message.text));
  std::string reason(message.text, end ? end : message.text + sizeof message.text);
  if (reason.empty()) reason = what + " failed without saying why";
  throw Refusal(status == FLASHBENCH_UNSUPPORTED     ? Status::unsupported
                : status == FLASHBENCH_OUT_OF_MEMORY ? Status::oom
                                                     : Status::failed,
                reason);
}

FlashbenchCost cost_of(const FlashbenchImplementation& implementation,
                       const FlashbenchDevice& device, const FlashbenchProblem& problem,
                       std::uint32_t passes) {
  FlashbenchMessage message{};
  require_ok(implementation.supports(&problem, &device, &message), message,
             fmt::format("{} on this problem", implementation.name));
  FlashbenchCost cost{};
  require_ok(implementation.cost(&problem, &device, passes, &cost, &message), message,
             fmt::format("the cost of {}", implementation.name));
  if (const std::string absurd = absurdity_of(cost); !absurd.empty())
    throw Refusal(Status::failed, absurd);
  return cost;
}

LiveInstance::LiveInstance(const FlashbenchImplementation& implementation, DeviceBackend& backend,
                           const Problem& problem, Pass pass)
    : implementation_(implementation), backend_(backend) {
  const FlashbenchCost cost = cost_of(implementation, backend, problem, pass);
  saves_ = cost.saves;
  if (cost.workspace_bytes > 0) {
    workspace_ = Guarded(backend, "the workspace", cost.workspace_bytes);
    workspace_.poison();  // its contents are arbitrary, so let them be the worst
  }
  const FlashbenchProblem c = to_c(problem, instance_bits(pass));
  const FlashbenchDevice device = backend.device();
  FlashbenchMessage message{};
  require_ok(implementation.create(&c, &device, workspace_.data(), &instance_, &message), message,
             fmt::format("creating {}", implementation.name));
}

LiveInstance::~LiveInstance() {
  if (implementation_.destroy) implementation_.destroy(instance_.state);
}

std::int64_t LiveInstance::footprint(const FlashbenchImplementation& implementation,
                                     DeviceBackend& backend, const Problem& problem, Pass pass) {
  const FlashbenchCost cost = cost_of(implementation, backend, problem, pass);
  return cost.workspace_bytes > 0 ? Guarded::footprint(cost.workspace_bytes) : 0;
}

void LiveInstance::forward(TensorSet& set) {
  const FlashbenchForward args = set.forward_arguments(saves_);
  FlashbenchMessage message{};
  require_ok(implementation_.forward(instance_.state, &args, backend_.stream(), &message), message,
             fmt::format("the forward of {}", implementation_.name));
}

void LiveInstance::backward(TensorSet& set, std::uint32_t saves) {
  if (!implementation_.backward)
    throw Refusal(Status::unsupported, fmt::format("{} has no backward", implementation_.name));
  const FlashbenchBackward args = set.backward_arguments(saves);
  FlashbenchMessage message{};
  require_ok(implementation_.backward(instance_.state, &args, backend_.stream(), &message), message,
             fmt::format("the backward of {}", implementation_.name));
}

void LiveInstance::run(Pass pass, TensorSet& set) {
  if (pass != Pass::bwd) forward(set);
  if (pass != Pass::fwd) backward(set, saves_);
}

void LiveInstance::collect(Pass pass, TensorSet& set) {
  if (!implementation_.collect) return;
  const FlashbenchForward forward = set.forward_arguments(saves_);
  FlashbenchBackward backward{};
  if (pass != Pass::fwd) backward = set.backward_arguments(saves_);
  FlashbenchMessage message{};
  require_ok(
      implementation_.collect(instance_.state, &forward, pass == Pass::fwd ? nullptr : &backward,
                              backend_.stream(), &message),
      message, fmt::format("collecting the results of {}", implementation_.name));
}

std::vector<Launch> LiveInstance::launches() const {
  return launches_of(instance_);
}

std::optional<Counts> LiveInstance::counts() {
  if (!implementation_.counts) return std::nullopt;
  FlashbenchCounts counts{};
  FlashbenchMessage message{};
  if (implementation_.counts(instance_.state, &counts, &message) != FLASHBENCH_OK)
    return std::nullopt;
  return from_c(counts);
}

}  // namespace flashbench
