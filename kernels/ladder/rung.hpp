// The ideas that lie between FlashAttention-1 and -2, one field each. A Rung and a BackwardRung are
// template parameters of the kernels; ladder/steps.hpp and ladder/backward_steps.hpp climb from v1
// to v2 one idea at a time.
#pragma once

namespace flashbench::kernels {

enum class Loop { kv_outer, q_outer };     // 2.2: which tile stays, which one streams
enum class Normalize { each_step, once };  // 3.2: O divided by l in each step, or at the end
enum class Grid {
  heads,
  q_tiles,
  kv_tiles
};                                          // 2.3, 7.2: a block a (batch, head), or a block a tile
enum class Split { keys, queries };         // 4: what the warps of a block divide among them
enum class Causal { visit_all, skip };      // 5.3: invisible tiles are masked, or not visited
enum class Saved { m_and_l, log_sum_exp };  // 7.1: what the backward pass is left with
enum class Dots { each_visit, once };  // 7.3: D computed whenever a Q tile is met, or beforehand
enum class Sums { in_turn, atomic };   // 7.2: dQ read and written by one block, or added to by many

struct Rung {
  Loop loop;
  Normalize normalize;
  Grid grid;
  Split split;
  Causal causal;
  Saved saved;
  constexpr bool operator==(const Rung&) const = default;
};

// K and V are outside and Q is inside on all of them.
struct BackwardRung {
  Dots dots;
  Sums sums;
  Grid grid;
  Causal causal;
  Saved saved;
  constexpr bool operator==(const BackwardRung&) const = default;
};

constexpr int differences(Rung a, Rung b) {
  return (a.loop != b.loop) + (a.normalize != b.normalize) + (a.grid != b.grid) +
         (a.split != b.split) + (a.causal != b.causal) + (a.saved != b.saved);
}
constexpr int differences(BackwardRung a, BackwardRung b) {
  return (a.dots != b.dots) + (a.sums != b.sums) + (a.grid != b.grid) + (a.causal != b.causal) +
         (a.saved != b.saved);
}

template <auto field, auto value, class AnyRung>
constexpr AnyRung with(AnyRung rung) {
  rung.*field = value;
  return rung;
}

inline constexpr Rung v1{Loop::kv_outer, Normalize::each_step, Grid::heads,
                         Split::keys,    Causal::visit_all,    Saved::m_and_l};
inline constexpr Rung v2{Loop::q_outer,  Normalize::once, Grid::q_tiles,
                         Split::queries, Causal::skip,    Saved::log_sum_exp};

inline constexpr BackwardRung backward_v1{Dots::each_visit, Sums::in_turn, Grid::heads,
                                          Causal::visit_all, Saved::m_and_l};
inline constexpr BackwardRung backward_v2{Dots::once, Sums::atomic, Grid::kv_tiles, Causal::skip,
                                          Saved::log_sum_exp};

}  // namespace flashbench::kernels
