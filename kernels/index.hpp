// Every built-in implementation, one line each, in the order in which they are listed. The workers
// take what they can run from here (index.cpp, index_cuda.cpp); the front, which has no kernels,
// what there is to know.
#pragma once

#include "kernels/flash_v1/implementation.hpp"
#include "kernels/flash_v2/implementation.hpp"
#include "kernels/ladder/implementation.hpp"
#include "kernels/naive/implementation.hpp"

namespace flashbench::kernels {

using Index = Implementations<Naive,            //
                              FlashAttention1,  //
                              FlashAttention2,  //
                              Ladder>;

// What the worker that this is linked into can run.
const FlashbenchPlugin& builtin();

}  // namespace flashbench::kernels
