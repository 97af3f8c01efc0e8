// The plugin: every fault planted into the worker's own v2.
#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <memory>
#include <string_view>
#include <utility>

#include "kernels/index.hpp"
#include "plugins/faults/fault.hpp"

namespace flashbench::faults {

namespace {

constexpr std::int64_t alignment = 256;  // of each part's share of the workspace

FlashbenchStatus say(FlashbenchMessage* message, FlashbenchStatus status, const char* why) {
  std::snprintf(message->text, sizeof message->text, "%s", why);
  return status;
}

const FlashbenchImplementation& working() {
  const FlashbenchPlugin& plugin = kernels::builtin();
  const auto* end = plugin.implementations + plugin.count;
  return *std::find_if(plugin.implementations, end, [](const FlashbenchImplementation& one) {
    return std::string_view(one.name) == "v2";
  });
}

// One head of a part, as the working implementation is asked for it.
FlashbenchProblem problem_of(const Part& part, const FlashbenchProblem& whole) {
  FlashbenchProblem problem = whole;
  problem.batch = problem.query_heads = problem.kv_heads = 1;
  problem.seq_q = part.rows;
  problem.seq_k = part.keys;
  problem.scale = part.scale;
  problem.alignment = std::min<std::int64_t>(whole.alignment, 16);
  return problem;
}

FlashbenchTensor shifted(FlashbenchTensor tensor, std::int64_t elements, FlashbenchDtype dtype) {
  tensor.data =
      static_cast<std::byte*>(tensor.data) + elements * (dtype == FLASHBENCH_FP32 ? 4 : 2);
  return tensor;
}

FlashbenchForward arguments_of(const Part& part, const FlashbenchProblem& p,
                               const FlashbenchForward& whole, std::int64_t b, std::int64_t h) {
  const std::int64_t kv = h * p.kv_heads / p.query_heads;
  const auto at = [&](const FlashbenchTensor& tensor, std::int64_t head, std::int64_t row) {
    return shifted(tensor, b * tensor.batch + head * tensor.head + row * tensor.seq, p.dtype);
  };
  FlashbenchForward args = whole;
  args.q = at(whole.q, h, part.first);
  args.o = at(whole.o, h, part.first);
  args.k = at(whole.k, kv, 0);
  args.v = at(whole.v, kv, 0);
  args.lse = whole.lse + (b * p.query_heads + h) * p.seq_q + part.first;
  return args;
}

std::int64_t workspace_of(const FlashbenchProblem& problem, const FlashbenchDevice& device) {
  FlashbenchCost cost{};
  FlashbenchMessage message{};
  if (working().cost(&problem, &device, FLASHBENCH_FORWARD, &cost, &message) != FLASHBENCH_OK)
    return 0;
  return (cost.workspace_bytes + alignment - 1) / alignment * alignment;
}

class Planted {
 public:
  Planted(const Fault& fault, const FlashbenchProblem& problem)
      : fault_(fault), problem_(problem), parts_(fault.parts(problem)) {}
  ~Planted() {
    for (const FlashbenchInstance& instance : instances_) working().destroy(instance.state);
  }
  Planted(const Planted&) = delete;
  Planted& operator=(const Planted&) = delete;

  FlashbenchStatus create(const FlashbenchDevice& device, void* workspace,
                          FlashbenchMessage* message) {
    for (const Part& part : parts_) {
      const FlashbenchProblem problem = problem_of(part, problem_);
      FlashbenchInstance instance{};
      const FlashbenchStatus status =
          working().create(&problem, &device, workspace, &instance, message);
      if (status != FLASHBENCH_OK) return status;
      instances_.push_back(instance);
      workspace = static_cast<std::byte*>(workspace) + workspace_of(problem, device);
    }
    return FLASHBENCH_OK;
  }

  FlashbenchStatus forward(const FlashbenchForward& given, void* stream,
                           FlashbenchMessage* message) {
    FlashbenchForward args = given;
    const bool idle = fault_.idle && fault_.idle(memory_);
    ++memory_.calls;
    if (idle) return FLASHBENCH_OK;
    if (fault_.view) fault_.view(problem_, args);
    for (std::size_t i = 0; i < parts_.size(); ++i)
      for (std::int64_t b = 0; b < problem_.batch; ++b)
        for (std::int64_t h = 0; h < problem_.query_heads; ++h) {
          const FlashbenchForward part = arguments_of(parts_[i], problem_, args, b, h);
          const FlashbenchStatus status =
              working().forward(instances_[i].state, &part, stream, message);
          if (status != FLASHBENCH_OK) return status;
        }
    if (fault_.after) fault_.after(problem_, args, memory_, stream);
    return FLASHBENCH_OK;
  }

 private:
  const Fault& fault_;
  FlashbenchProblem problem_;
  Parts parts_;
  std::vector<FlashbenchInstance> instances_;  // one a part
  Memory memory_;
};

FlashbenchStatus supports(const Fault& fault, const FlashbenchProblem& p,
                          const FlashbenchDevice& device, FlashbenchMessage* message) {
  if (p.passes != FLASHBENCH_FORWARD)
    return say(message, FLASHBENCH_UNSUPPORTED, "faults are planted into the forward pass only");
  if (p.seq_q != p.seq_k || p.seq_q < 128 || p.dtype == FLASHBENCH_FP32)
    return say(message, FLASHBENCH_UNSUPPORTED,
               "needs 16 bits and as many queries as keys, 128 at least");
  const auto mask = fault.shows == Fault::Shows::causal ? FLASHBENCH_CAUSAL : FLASHBENCH_FULL;
  if (fault.shows != Fault::Shows::with_any_mask && mask != p.mask)
    return say(message, FLASHBENCH_UNSUPPORTED, "this fault does not show with this mask");
  return working().supports(&p, &device, message);
}

// The whole problem's, but for the workspace, which each part has a share of.
FlashbenchStatus cost(const Fault& fault, const FlashbenchProblem& p,
                      const FlashbenchDevice& device, FlashbenchCost& cost,
                      FlashbenchMessage* message) {
  const FlashbenchStatus status = working().cost(&p, &device, FLASHBENCH_FORWARD, &cost, message);
  cost.workspace_bytes = 0;
  for (const Part& part : fault.parts(p))
    cost.workspace_bytes += workspace_of(problem_of(part, p), device);
  return status;
}

FlashbenchStatus create(const Fault& fault, const FlashbenchProblem& p,
                        const FlashbenchDevice& device, void* workspace,
                        FlashbenchInstance& instance, FlashbenchMessage* message) {
  auto planted = std::make_unique<Planted>(fault, p);
  const FlashbenchStatus status = planted->create(device, workspace, message);
  if (status == FLASHBENCH_OK) instance = {planted.release(), 0, {}};
  return status;
}

template <std::size_t i>
FlashbenchImplementation implementation() {
  FlashbenchImplementation made{};
  made.name = all()[i].name;
  made.idea = all()[i].idea;
  made.section = "";
  made.passes = FLASHBENCH_FORWARD;
  made.supports = [](const FlashbenchProblem* p, const FlashbenchDevice* device,
                     FlashbenchMessage* message) {
    return supports(all()[i], *p, *device, message);
  };
  made.cost = [](const FlashbenchProblem* p, const FlashbenchDevice* device, uint32_t,
                 FlashbenchCost* out,
                 FlashbenchMessage* message) { return cost(all()[i], *p, *device, *out, message); };
  made.create = [](const FlashbenchProblem* p, const FlashbenchDevice* device, void* workspace,
                   FlashbenchInstance* instance, FlashbenchMessage* message) {
    return create(all()[i], *p, *device, workspace, *instance, message);
  };
  made.forward = [](void* state, const FlashbenchForward* args, void* stream,
                    FlashbenchMessage* message) {
    try {
      return static_cast<Planted*>(state)->forward(*args, stream, message);
    } catch (const std::exception& failure) {
      return say(message, FLASHBENCH_FAILED, failure.what());
    }
  };
  made.destroy = [](void* state) { delete static_cast<Planted*>(state); };
  return made;
}

template <std::size_t... i>
std::array<FlashbenchImplementation, sizeof...(i)> implementations(std::index_sequence<i...>) {
  return {implementation<i>()...};
}

}  // namespace

}  // namespace flashbench::faults

const FlashbenchPlugin* flashbench_plugin(void) {
  using namespace flashbench;
  static const auto table =
      faults::implementations(std::make_index_sequence<faults::fault_count>{});
  static const FlashbenchPlugin plugin = {FLASHBENCH_ABI, kernels::builtin().backend,
                                          static_cast<uint32_t>(table.size()), table.data()};
  return &plugin;
}
