#include "worker/session.hpp"

#include <fmt/format.h>

#include "worker/convert.hpp"

namespace flashbench {

namespace {

void require_pass(const FlashbenchImplementation& implementation, Pass pass) {
  const std::uint32_t missing = pass_bits(pass) & ~implementation.passes;
  if (missing == 0) return;
  throw Refusal(Status::unsupported,
                fmt::format("{} has no {}", implementation.name,
                            missing & FLASHBENCH_BACKWARD ? "backward" : "forward of its own"));
}

}  // namespace

const FlashbenchImplementation& Session::find(const std::string& name) const {
  for (std::uint32_t i = 0; i < plugin_.count; ++i)
    if (plugin_.implementations[i].name == name) return plugin_.implementations[i];
  throw Refusal(Status::unsupported, fmt::format("this worker has no implementation {}", name));
}

TensorSet& Session::set(int index) {
  if (sets_.empty()) throw Refusal(Status::failed, "no problem is prepared");
  if (index < 0 || static_cast<std::size_t>(index) >= sets_.size())
    throw Refusal(Status::failed,
                  fmt::format("input set {} is not one of the {} prepared", index, sets_.size()));
  return *sets_[static_cast<std::size_t>(index)];
}

reply::Describe Session::describe(const request::Describe& request) {
  require_valid(request.problem);
  const FlashbenchImplementation& implementation = find(request.impl);
  const FlashbenchProblem c = to_c(request.problem, instance_bits(request.pass));
  const FlashbenchDevice device = backend_.device();
  require_pass(implementation, request.pass);
  reply::Describe reply;
  reply.cost = from_c(cost_of(implementation, device, c, pass_bits(request.pass)));
  reply.room_bytes = backend_.room_bytes();
  for (const Tensor tensor : inputs_of(request.pass))
    reply.inputs_bytes += bytes_of(request.problem, tensor);
  reply.outputs_bytes = bytes_of(request.problem, Tensor::o);
  reply.outputs_bytes +=
      static_cast<std::int64_t>(reply.cost.saves.size()) * statistic_bytes(request.problem);
  if (request.pass != Pass::fwd)
    for (const Tensor tensor : {Tensor::dq, Tensor::dk, Tensor::dv})
      reply.outputs_bytes += bytes_of(request.problem, tensor);
  return reply;
}

void Session::require_memory(std::int64_t bytes, const std::string& what) {
  const std::optional<std::int64_t> free = backend_.free_bytes();
  if (!free || bytes <= *free) return;
  throw Refusal(Status::oom,
                fmt::format("{} needs {} bytes of memory and {} are free", what, bytes, *free),
                bytes + sets_bytes_);
}

reply::Prepare Session::prepare(const request::Prepare& request, const Tell& tell) {
  drop();
  require_valid(request.problem);
  if (request.sets.empty()) throw Refusal(Status::failed, "prepare names no input set");
  const std::int64_t bytes = TensorSet::footprint(request.problem, request.pass) *
                             static_cast<std::int64_t>(request.sets.size());
  require_memory(bytes, "the inputs and outputs");
  problem_ = request.problem;
  reply::Prepare reply;
  try {
    for (const InputSet& input : request.sets) {
      sets_.push_back(std::make_unique<TensorSet>(backend_, problem_, input, request.pass, tell));
      reply.checksums.push_back(sets_.back()->checksum());
    }
  } catch (...) {
    drop();
    throw;
  }
  sets_bytes_ = bytes;
  backend_.synchronize();
  reply.free_bytes = backend_.free_bytes();
  return reply;
}

LiveInstance& Session::instance(const std::string& name, Pass pass) {
  const FlashbenchImplementation& implementation = find(name);
  const auto place = std::pair(name, pass);
  if (const auto known = instances_.find(place); known != instances_.end()) return *known->second;
  require_pass(implementation, pass);
  const std::int64_t bytes = LiveInstance::footprint(implementation, backend_, problem_, pass);
  const std::optional<std::int64_t> free = backend_.free_bytes();
  if (free && bytes > *free) instances_.clear();
  require_memory(bytes, fmt::format("the workspace of {}", name));
  const auto create = [&] {
    return std::make_unique<LiveInstance>(implementation, backend_, problem_, pass);
  };
  std::unique_ptr<LiveInstance> made;
  try {
    made = create();
  } catch (const DeviceFailure& failure) {
    if (!failure.out_of_memory || instances_.empty()) throw;
    instances_.clear();
    made = create();
  }
  return *(instances_[place] = std::move(made));
}

std::uint32_t Session::run_forward(const std::string& impl, Pass pass, TensorSet& set) {
  LiveInstance& live = instance(impl, pass);
  set.poison(Pass::fwd);
  live.forward(set);
  live.collect(Pass::fwd, set);
  backend_.synchronize();
  return live.saves();
}

reply::Profile Session::profile(const request::Profile& request) {
  TensorSet& tensors = set(0);
  LiveInstance& live = instance(request.impl, request.pass);
  if (request.pass == Pass::bwd) run_forward(request.impl, request.pass, tensors);
  backend_.synchronize();
  backend_.profile(request.range, [&] { live.run(request.pass, tensors); });
  return {live.launches()};
}

reply::Count Session::count(const request::Count& request) {
  if (request.metrics.empty()) return {backend_.count({}, {}, false)};
  TensorSet& tensors = set(0);
  LiveInstance& live = instance(request.impl, request.pass);
  if (request.pass == Pass::bwd) run_forward(request.impl, request.pass, tensors);
  return {backend_.count(
      request.metrics, [&] { live.run(request.pass, tensors); }, request.cache == Cache::cold)};
}

void Session::undo_damage(const Tell& tell) {
  instances_.clear();
  for (const auto& set : sets_) set->mend(tell);
}

reply::Drop Session::drop() {
  instances_.clear();
  sets_.clear();
  sets_bytes_ = 0;
  return {backend_.free_bytes()};
}

}  // namespace flashbench
