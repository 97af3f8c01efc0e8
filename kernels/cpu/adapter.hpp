// From a kernel class to a row of the table in flashbench/attention.h. A kernel is a class with
//   static constexpr const char* name, idea, section;
//   static FlashbenchCost cost(const FlashbenchProblem&, int threads);     of a forward
//   Kernel(const FlashbenchProblem&, int threads, void* workspace);
//   void forward(const FlashbenchForward&);
//   FlashbenchCounts counts() const;                                        of the last forward
//   FlashbenchLaunch launch() const;
#pragma once

#include <exception>
#include <new>
#include <stdexcept>

#include "flashbench/attention.h"

namespace flashbench::kernels::cpu {

int thread_count(const FlashbenchDevice&);
FlashbenchStatus say(FlashbenchStatus, FlashbenchMessage*, const char* text);
// What all CPU kernels do: which problems, and the reason where not.
FlashbenchStatus supported(const FlashbenchProblem&, const FlashbenchDevice&, FlashbenchMessage*);
// A launch of `blocks` independent pieces over `threads` cores, each with `bytes` of tile buffers.
FlashbenchLaunch launch_of(const char* kernel, int threads, int64_t blocks, int64_t bytes);

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

template <class Kernel>
struct Adapter {
  static FlashbenchStatus supports(const FlashbenchProblem* problem, const FlashbenchDevice* device,
                                   FlashbenchMessage* message) {
    return supported(*problem, *device, message);
  }

  static FlashbenchStatus cost(const FlashbenchProblem* problem, const FlashbenchDevice* device,
                               uint32_t passes, FlashbenchCost* cost, FlashbenchMessage* message) {
    const FlashbenchStatus status = supported(*problem, *device, message);
    if (status != FLASHBENCH_OK) return status;
    if (passes != FLASHBENCH_FORWARD)
      return say(FLASHBENCH_UNSUPPORTED, message, "the CPU kernels have a forward pass only");
    *cost = Kernel::cost(*problem, thread_count(*device));
    return FLASHBENCH_OK;
  }

  static FlashbenchStatus create(const FlashbenchProblem* problem, const FlashbenchDevice* device,
                                 void* workspace, FlashbenchInstance* instance,
                                 FlashbenchMessage* message) {
    const FlashbenchStatus status = supported(*problem, *device, message);
    if (status != FLASHBENCH_OK) return status;
    return guarded(message, [&] {
      const int threads = thread_count(*device);
      if (!workspace && Kernel::cost(*problem, threads).workspace_bytes > 0)
        throw std::runtime_error("the workspace is missing");
      auto* kernel = new Kernel(*problem, threads, workspace);
      *instance = {};
      instance->state = kernel;
      instance->launch_count = 1;
      instance->launches[0] = kernel->launch();
    });
  }

  static FlashbenchStatus forward(void* state, const FlashbenchForward* forward, void*,
                                  FlashbenchMessage* message) {
    return guarded(message, [&] { static_cast<Kernel*>(state)->forward(*forward); });
  }

  static FlashbenchStatus counts(void* state, FlashbenchCounts* counts, FlashbenchMessage*) {
    *counts = static_cast<const Kernel*>(state)->counts();
    return FLASHBENCH_OK;
  }

  static void destroy(void* state) { delete static_cast<Kernel*>(state); }

  static FlashbenchImplementation implementation() {
    FlashbenchImplementation row{};
    row.name = Kernel::name;
    row.idea = Kernel::idea;
    row.section = Kernel::section;
    row.passes = FLASHBENCH_FORWARD;
    row.supports = supports;
    row.cost = cost;
    row.create = create;
    row.forward = forward;
    row.counts = counts;
    row.destroy = destroy;
    return row;
  }
};

}  // namespace flashbench::kernels::cpu
