#include "kernels/ladder/implementation.hpp"

#include "kernels/cuda/tiled_implementation.hpp"
#include "kernels/ladder/kernels.hpp"

namespace flashbench::kernels {
namespace {

// FLASHBENCH_LADDER_FIRST_SM and _LAST_SM: cmake/cuda.cmake.
constexpr Architectures architectures{FLASHBENCH_LADDER_FIRST_SM, FLASHBENCH_LADDER_LAST_SM};

template <Rung rung>
TiledKernel find(FlashbenchDtype dtype, std::int64_t head_dim) {
  if (dtype != FLASHBENCH_BF16 || (head_dim != 64 && head_dim != 128)) return {};
  if (rung.loop == Loop::kv_outer)
    return head_dim == 64 ? kv_outer_rung_64(rung) : kv_outer_rung_128(rung);
  return head_dim == 64 ? q_outer_rung_64(rung) : q_outer_rung_128(rung);
}

template <Rung rung>
constexpr TiledForward forward{rung.loop == Loop::kv_outer ? "forward_kv_outer" : "forward_q_outer",
                               rung, find<rung>};

template <Rung rung>
constexpr TiledPasses passes{FLASHBENCH_FORWARD, forward<rung>, nullptr, architectures};

template <std::size_t... i>
FlashbenchImplementation implementation_of(const Rung& rung, std::index_sequence<i...>) {
  FlashbenchImplementation row{};
  ((rungs[i] == rung ? void(row = tiled_implementation<passes<rungs[i]>>()) : void()), ...);
  return row;
}

}  // namespace

FlashbenchImplementation rung_cuda(const Rung& rung) {
  return implementation_of(rung, std::make_index_sequence<rungs.size()>{});
}

}  // namespace flashbench::kernels
