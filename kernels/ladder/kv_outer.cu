// The rungs whose outer loop runs over K and V.
#include "kernels/ladder/find.cuh"

namespace flashbench::kernels {

template TiledKernel find_rung<v1>(FlashbenchDtype, std::int64_t);
template TiledKernel find_rung<delayed>(FlashbenchDtype, std::int64_t);
template TiledKernel find_rung<without[1].rung>(FlashbenchDtype, std::int64_t);

}  // namespace flashbench::kernels
