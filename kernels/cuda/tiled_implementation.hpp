// A row of the implementation table, from a tiled forward and, where there is one, its backward.
#pragma once

#include "kernels/cuda/tiled_backward.hpp"
#include "kernels/cuda/tiled_forward.hpp"

namespace flashbench::kernels {

struct TiledPasses {
  uint32_t has;  // FLASHBENCH_FORWARD, FLASHBENCH_BACKWARD
  const TiledForward& forward;
  const TiledBackward* backward;  // null where there is none
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

inline constexpr TiledPasses v1_passes{FLASHBENCH_FORWARD | FLASHBENCH_BACKWARD, flash_v1_forward,
                                       &flash_v1_backward};
inline constexpr TiledPasses v2_passes{FLASHBENCH_FORWARD | FLASHBENCH_BACKWARD, flash_v2_forward,
                                       &flash_v2_backward};

template <const TiledPasses& tiled>
constexpr FlashbenchImplementation tiled_implementation(const char* name, const char* idea,
                                                        const char* section) {
  FlashbenchImplementation row{};
  row.name = name;
  row.idea = idea;
  row.section = section;
  row.passes = tiled.has;
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
