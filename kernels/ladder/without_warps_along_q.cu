#include "kernels/cuda/q_outer.cuh"
#include "kernels/ladder/tiles.hpp"

namespace flashbench::kernels {
namespace {

constexpr int step = 3;
static_assert(without[step].rung == with<&Rung::split, Split::keys>(v2));

TiledKernel find(FlashbenchDtype dtype, std::int64_t head_dim) {
  if (dtype != FLASHBENCH_BF16) return {};
  switch (head_dim) {
    case 64:
      return q_outer_kernel<Without<__nv_bfloat16, 64, step>>();
    case 128:
      return q_outer_kernel<Without<__nv_bfloat16, 128, step>>();
    default:
      return {};
  }
}

}  // namespace

const TiledForward without_warps_along_q_forward{"forward_q_outer", without[step].rung, find};

}  // namespace flashbench::kernels
