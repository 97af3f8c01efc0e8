// The host's side of every tiled forward kernel: what it supports, what it costs, how it is
// launched.
#pragma once

#include "flashbench/attention.h"
#include "kernels/blocks/tile.hpp"
#include "kernels/ladder/rung.hpp"

namespace flashbench::kernels {

struct TiledKernel {
  const void* function;  // void(ForwardArguments); null: not built for this head dimension or dtype
  Tile tile;
  std::int64_t shared_bytes;
};

struct TiledForward {
  const char* kernel;
  Rung rung;
  TiledKernel (*find)(FlashbenchDtype, std::int64_t head_dim);
};

FlashbenchStatus supports(const TiledForward&, const FlashbenchProblem&, const FlashbenchDevice&,
                          FlashbenchMessage*);
FlashbenchStatus cost(const TiledForward&, const FlashbenchProblem&, const FlashbenchDevice&,
                      FlashbenchCost*, FlashbenchMessage*);
FlashbenchStatus create(const TiledForward&, const FlashbenchProblem&, const FlashbenchDevice&,
                        void* workspace, FlashbenchInstance*, FlashbenchMessage*);
FlashbenchStatus launch(void* state, const FlashbenchForward&, void* stream, FlashbenchMessage*);
void destroy_tiled(void* state);

// A row of the implementation table.
template <const TiledForward& forward>
constexpr FlashbenchImplementation tiled_implementation(const char* name, const char* idea,
                                                        const char* section) {
  FlashbenchImplementation row{};
  row.name = name;
  row.idea = idea;
  row.section = section;
  row.passes = FLASHBENCH_FORWARD;
  row.supports = [](const FlashbenchProblem* p, const FlashbenchDevice* d, FlashbenchMessage* m) {
    return supports(forward, *p, *d, m);
  };
  row.cost = [](const FlashbenchProblem* p, const FlashbenchDevice* d, uint32_t, FlashbenchCost* c,
                FlashbenchMessage* m) { return cost(forward, *p, *d, c, m); };
  row.create = [](const FlashbenchProblem* p, const FlashbenchDevice* d, void* workspace,
                  FlashbenchInstance* i,
                  FlashbenchMessage* m) { return create(forward, *p, *d, workspace, i, m); };
  row.forward = [](void* state, const FlashbenchForward* f, void* stream, FlashbenchMessage* m) {
    return launch(state, *f, stream, m);
  };
  row.destroy = destroy_tiled;
  return row;
}

extern const TiledForward flash_v1_forward, flash_v2_forward, without_warps_along_q_forward;

}  // namespace flashbench::kernels
