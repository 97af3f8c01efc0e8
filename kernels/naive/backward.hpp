// The backward of naive: five products by cuBLAS and one kernel.
#pragma once

#include "flashbench/attention.h"

namespace flashbench::kernels {

// visible_pairs: (query, key) pairs of one head. Raises workspace_bytes to what the backward needs,
// cuBLAS's own workspace aside.
void add_naive_backward_cost(const FlashbenchProblem&, double visible_pairs, FlashbenchCost*);
// Throws Failure.
void add_naive_backward_launches(const FlashbenchProblem&, const FlashbenchDevice&,
                                 FlashbenchInstance*);
FlashbenchStatus naive_backward(void* state, const FlashbenchBackward*, void* stream,
                                FlashbenchMessage*);

}  // namespace flashbench::kernels
