// The host's side of the tiled backward kernels: what they support, what they cost, how they are
// launched.
#pragma once

#include "flashbench/attention.h"
#include "kernels/blocks/backward_arguments.hpp"

namespace flashbench::kernels {

struct PlannedKernel {
  const void* function;  // void(BackwardArguments)
  int threads;
  std::int64_t shared_bytes, blocks;
  FlashbenchKernelCost cost;
};

// The kernels of a backward in the order of their launch, and what problem and workspace decide of
// their arguments.
struct BackwardPlan {
  int count = 0;  // 0: not built for this head dimension or dtype
  PlannedKernel kernels[3] = {};
  BackwardArguments arguments{};
  std::int64_t workspace_bytes = 0;
};

struct TiledBackward {
  BackwardPlan (*plan)(const FlashbenchProblem&, void* workspace);  // pure
};

// What check_problem leaves open.
FlashbenchStatus supports(const TiledBackward&, const FlashbenchProblem&, const FlashbenchDevice&,
                          FlashbenchMessage*);
void add_cost(const TiledBackward&, const FlashbenchProblem&, FlashbenchCost*);
// Throws Failure. Adds its launches to the instance.
BackwardPlan create(const TiledBackward&, const FlashbenchProblem&, const FlashbenchDevice&,
                    void* workspace, FlashbenchInstance*);
FlashbenchStatus launch(const BackwardPlan&, const FlashbenchBackward&, void* stream,
                        FlashbenchMessage*);

// For plans: arguments without workspace, in tiles of this size.
BackwardArguments backward_arguments(const FlashbenchProblem&, const Tile&);
// Q tiles that K/V tiles meet, of one head, from the first that sees anything of a tile on where
// unseen ones are skipped.
struct QueryVisits {
  double tiles = 0, rows = 0;  // with each K/V tile that meets them
};
QueryVisits query_visits(const FlashbenchProblem&, const Tile&, bool skip);
// What a kernel moves that meets `visits`: K and V once, Q and dO at every visit.
FlashbenchTraffic backward_traffic(const FlashbenchProblem&, const QueryVisits& visits);
double tensor_bytes(const FlashbenchProblem&, FlashbenchOperand);  // of Q, K, V, O or a gradient

}  // namespace flashbench::kernels
