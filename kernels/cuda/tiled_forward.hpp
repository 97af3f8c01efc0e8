// The host's side of every tiled forward kernel: what it supports, what it costs, how it is
// launched.
#pragma once

#include "flashbench/attention.h"
#include "kernels/blocks/tile.hpp"
#include "kernels/ladder/rung.hpp"

namespace flashbench::kernels {

struct TiledKernel {
  const void* function;  // of one argument block; null: not built for this head dimension or dtype
  Tile tile;
  std::int64_t shared_bytes;
};

struct TiledForward {
  const char* kernel;
  Rung rung;
  TiledKernel (*find)(FlashbenchDtype, std::int64_t head_dim);
};

struct ForwardInstance {
  TiledKernel kernel;
  ForwardArguments arguments;
  std::int64_t blocks;
};

// What check_problem leaves open.
FlashbenchStatus supports(const TiledForward&, const FlashbenchProblem&, const FlashbenchDevice&,
                          FlashbenchMessage*);
void add_cost(const TiledForward&, const FlashbenchProblem&, FlashbenchCost*);
// Throws Failure. Adds its launch to the instance.
ForwardInstance create(const TiledForward&, const FlashbenchProblem&, const FlashbenchDevice&,
                       void* workspace, FlashbenchInstance*);
FlashbenchStatus launch(const ForwardInstance&, const FlashbenchForward&, void* stream,
                        FlashbenchMessage*);

inline Strides strides_of(const FlashbenchTensor& t) {
  return {t.batch, t.seq, t.head};
}

}  // namespace flashbench::kernels
