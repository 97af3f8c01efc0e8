// From an implementation's two passes (kernels/cpu/kernel.hpp) to the functions of a row of the
// table in flashbench/attention.h.
#pragma once

#include <exception>
#include <memory>
#include <new>
#include <stdexcept>

#include "flashbench/attention.h"
#include "kernels/cpu/kernel.hpp"

namespace flashbench::kernels::cpu {

int thread_count(const FlashbenchDevice&);
FlashbenchStatus say(FlashbenchStatus, FlashbenchMessage*, const char* text);
// What all CPU kernels do: which problems, and the reason where not.
FlashbenchStatus supported(const FlashbenchProblem&, const FlashbenchDevice&, FlashbenchMessage*);
// a += b, which follows it: its kernels, in the same workspace.
void add(FlashbenchCost& a, const FlashbenchCost& b);

template <class Body>
FlashbenchStatus guarded(FlashbenchMessage* message, const Body& body) {
  try {
    body();
    return FLASHBENCH_OK;
  } catch (const std::bad_alloc&) {
    return say(FLASHBENCH_OUT_OF_MEMORY, message, "the host's memory is exhausted");
  } catch (const std::exception& error) {
    return say(FLASHBENCH_FAILED, message, error.what());
  }
}

// The two passes follow each other and share the workspace.
template <class Implementation>
class Adapter {
 public:
  static FlashbenchImplementation implementation() {
    FlashbenchImplementation row{};
    row.supports = supports;
    row.cost = cost;
    row.create = create;
    row.forward = forward;
    row.backward = backward;
    row.counts = counts;
    row.destroy = destroy;
    return row;
  }

 private:
  struct State {
    std::unique_ptr<ForwardKernel> forward;
    std::unique_ptr<BackwardKernel> backward;
    const Kernel* last = nullptr;
  };

  static FlashbenchStatus supports(const FlashbenchProblem* problem, const FlashbenchDevice* device,
                                   FlashbenchMessage* message) {
    return supported(*problem, *device, message);
  }

  static FlashbenchStatus cost(const FlashbenchProblem* problem, const FlashbenchDevice* device,
                               uint32_t passes, FlashbenchCost* cost, FlashbenchMessage* message) {
    const FlashbenchStatus status = supported(*problem, *device, message);
    if (status == FLASHBENCH_OK) *cost = cost_of(*problem, thread_count(*device), passes);
    return status;
  }

  static FlashbenchCost cost_of(const FlashbenchProblem& problem, int threads, uint32_t passes) {
    FlashbenchCost cost{};
    const FlashbenchCost forward = Implementation::forward_cost(problem, threads);
    cost.saves = forward.saves;
    if (passes & FLASHBENCH_FORWARD) add(cost, forward);
    if (passes & FLASHBENCH_BACKWARD) add(cost, Implementation::backward_cost(problem, threads));
    return cost;
  }

  static FlashbenchStatus create(const FlashbenchProblem* problem, const FlashbenchDevice* device,
                                 void* workspace, FlashbenchInstance* instance,
                                 FlashbenchMessage* message) {
    const FlashbenchStatus status = supported(*problem, *device, message);
    if (status != FLASHBENCH_OK) return status;
    return guarded(message, [&] {
      const int threads = thread_count(*device);
      if (!workspace && cost_of(*problem, threads, problem->passes).workspace_bytes > 0)
        throw std::runtime_error("the workspace is missing");
      auto state = std::make_unique<State>();
      *instance = {};
      if (problem->passes & FLASHBENCH_FORWARD) {
        state->forward = Implementation::forward(*problem, threads, workspace);
        instance->launches[instance->launch_count++] = state->forward->launch();
      }
      if (problem->passes & FLASHBENCH_BACKWARD) {
        state->backward = Implementation::backward(*problem, threads, workspace);
        instance->launches[instance->launch_count++] = state->backward->launch();
      }
      instance->state = state.release();
    });
  }

  static FlashbenchStatus forward(void* state, const FlashbenchForward* tensors, void*,
                                  FlashbenchMessage* message) {
    auto* own = static_cast<State*>(state);
    return run(own, own->forward.get(), *tensors, message);
  }

  static FlashbenchStatus backward(void* state, const FlashbenchBackward* tensors, void*,
                                   FlashbenchMessage* message) {
    if (!tensors->lse && !(tensors->m && tensors->l))
      return say(FLASHBENCH_FAILED, message, "the backward needs lse, or m and l");
    auto* own = static_cast<State*>(state);
    return run(own, own->backward.get(), *tensors, message);
  }

  template <class Pass, class Tensors>
  static FlashbenchStatus run(State* state, Pass* pass, const Tensors& tensors,
                              FlashbenchMessage* message) {
    if (!pass) return say(FLASHBENCH_FAILED, message, "the instance was not created for this pass");
    state->last = pass;
    return guarded(message, [&] { pass->run(tensors); });
  }

  static FlashbenchStatus counts(void* state, FlashbenchCounts* counts, FlashbenchMessage*) {
    const Kernel* last = static_cast<const State*>(state)->last;
    *counts = last ? last->counts() : FlashbenchCounts{};
    return FLASHBENCH_OK;
  }

  static void destroy(void* state) { delete static_cast<State*>(state); }
};

}  // namespace flashbench::kernels::cpu
