// The functions of a row of the implementation table, from a tiled forward and, where there is one,
// its backward.
#pragma once

#include "kernels/cuda/tiled_backward.hpp"
#include "kernels/cuda/tiled_forward.hpp"

namespace flashbench::kernels {

// Compute capabilities that kernels are built for.
struct Architectures {
  int first = 80, last = 1 << 30;
};

struct TiledPasses {
  uint32_t has;  // FLASHBENCH_FORWARD, FLASHBENCH_BACKWARD
  const TiledForward& forward;
  const TiledBackward* backward;  // null where there is none
  Architectures architectures{};
};

FlashbenchStatus supports(const TiledPasses&, const FlashbenchProblem&, const FlashbenchDevice&,
                          FlashbenchMessage*);
FlashbenchStatus cost(const TiledPasses&, const FlashbenchProblem&, const FlashbenchDevice&,
                      uint32_t passes, FlashbenchCost*, FlashbenchMessage*);
FlashbenchStatus create(const TiledPasses&, const FlashbenchProblem&, const FlashbenchDevice&,
                        void* workspace, FlashbenchInstance*, FlashbenchMessage*);
FlashbenchStatus run_forward(void* state, const FlashbenchForward*, void* stream,
                             FlashbenchMessage*);
FlashbenchStatus run_backward(void* state, const FlashbenchBackward*, void* stream,
                              FlashbenchMessage*);
void destroy_tiled(void* state);

template <const TiledPasses& tiled>
FlashbenchImplementation tiled_implementation() {
  FlashbenchImplementation row{};
  row.supports = [](const FlashbenchProblem* p, const FlashbenchDevice* d, FlashbenchMessage* m) {
    return supports(tiled, *p, *d, m);
  };
  row.cost = [](const FlashbenchProblem* p, const FlashbenchDevice* d, uint32_t passes,
                FlashbenchCost* c,
                FlashbenchMessage* m) { return cost(tiled, *p, *d, passes, c, m); };
  row.create = [](const FlashbenchProblem* p, const FlashbenchDevice* d, void* workspace,
                  FlashbenchInstance* i,
                  FlashbenchMessage* m) { return create(tiled, *p, *d, workspace, i, m); };
  row.forward = run_forward;
  if (tiled.has & FLASHBENCH_BACKWARD) row.backward = run_backward;
  row.destroy = destroy_tiled;
  return row;
}

}  // namespace flashbench::kernels
