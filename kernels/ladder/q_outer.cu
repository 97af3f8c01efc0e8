// The rungs whose outer loop runs over Q.
#include "kernels/ladder/find.cuh"

namespace flashbench::kernels {

template TiledKernel find_rung<q_outer>(FlashbenchDtype, std::int64_t);
template TiledKernel find_rung<grid_over_q>(FlashbenchDtype, std::int64_t);
template TiledKernel find_rung<warps_along_q>(FlashbenchDtype, std::int64_t);
template TiledKernel find_rung<causal_skip>(FlashbenchDtype, std::int64_t);
template TiledKernel find_rung<log_sum_exp>(FlashbenchDtype, std::int64_t);

template TiledKernel find_rung<without[0].rung>(FlashbenchDtype, std::int64_t);
template TiledKernel find_rung<without[2].rung>(FlashbenchDtype, std::int64_t);
template TiledKernel find_rung<without[3].rung>(FlashbenchDtype, std::int64_t);
template TiledKernel find_rung<without[4].rung>(FlashbenchDtype, std::int64_t);
static_assert(without[5].rung == causal_skip, "built already");

}  // namespace flashbench::kernels
