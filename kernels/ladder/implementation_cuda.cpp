#include "kernels/ladder/implementation.hpp"

#include "kernels/cuda/tiled_implementation.hpp"
#include "kernels/ladder/kernels.hpp"

namespace flashbench::kernels {
namespace {

// FLASHBENCH_LADDER_FIRST_SM and _LAST_SM: cmake/cuda.cmake.
constexpr Architectures architectures{FLASHBENCH_LADDER_FIRST_SM, FLASHBENCH_LADDER_LAST_SM};

constexpr bool is_built(FlashbenchDtype dtype, std::int64_t head_dim) {
  return dtype == FLASHBENCH_BF16 && (head_dim == 64 || head_dim == 128);
}

template <Rung rung>
TiledKernel find(FlashbenchDtype dtype, std::int64_t head_dim) {
  if (!is_built(dtype, head_dim)) return {};
  if (rung.loop == Loop::kv_outer)
    return head_dim == 64 ? kv_outer_rung_64(rung) : kv_outer_rung_128(rung);
  return head_dim == 64 ? q_outer_rung_64(rung) : q_outer_rung_128(rung);
}

template <BackwardRung rung>
BackwardPlan plan(const FlashbenchProblem& p, void* workspace) {
  if (!is_built(p.dtype, p.head_dim)) return {};
  return backward_plan(rung, p.head_dim == 64 ? backward_rung_64(rung) : backward_rung_128(rung), p,
                       workspace);
}

template <Rung rung>
constexpr TiledForward forward{rung.loop == Loop::kv_outer ? "forward_kv_outer" : "forward_q_outer",
                               rung, find<rung>};

template <BackwardRung rung>
constexpr TiledBackward backward{plan<rung>, rung.sums == Sums::in_turn};

// Where the backward stands alone, v2's forward, with the statistics that it wants.
constexpr Rung forward_of(const LadderEntry& entry) {
  if (entry.forward) return *entry.forward;
  Rung rung = v2;
  rung.saved = entry.backward->saved;
  return rung;
}

template <const auto& entries, std::size_t i>
constexpr const TiledBackward* backward_of() {
  if constexpr (entries[i].backward) {
    static_assert(forward_of(entries[i]).saved == entries[i].backward->saved,
                  "a backward is measured with its own forward's statistics");
    return &backward<*entries[i].backward>;
  }
  return nullptr;
}

template <const auto& entries, std::size_t i>
constexpr TiledPasses passes{FLASHBENCH_FORWARD | entries[i].facts.passes,
                             forward<forward_of(entries[i])>, backward_of<entries, i>(),
                             architectures};

template <const auto& entries>
void look_up(const LadderEntry& entry, FlashbenchImplementation& row) {
  const auto try_all = [&]<std::size_t... i>(std::index_sequence<i...>) {
    ((&entries[i] == &entry ? void(row = tiled_implementation<passes<entries, i>>()) : void()),
     ...);
  };
  try_all(std::make_index_sequence<entries.size()>{});
}

}  // namespace

FlashbenchImplementation rung_cuda(const LadderEntry& entry) {
  FlashbenchImplementation row{};
  look_up<ladder_entries>(entry, row);
  look_up<without_entries>(entry, row);
  return row;
}

}  // namespace flashbench::kernels
