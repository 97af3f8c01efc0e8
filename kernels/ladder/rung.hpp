// The ideas that lie between FlashAttention-1 and -2, one field each. A Rung is a template
// parameter of the kernels; ladder/steps.hpp climbs from v1 to v2 one idea at a time.
#pragma once

namespace flashbench::kernels {

enum class Loop { kv_outer, q_outer };      // 2.2: which tile stays, which one streams
enum class Normalize { each_step, once };   // 3.2: O divided by l in each step, or at the end
enum class Grid { heads, q_tiles };         // 2.3: a block a (batch, head), or a block a Q tile
enum class Split { keys, queries };         // 4: what the warps of a block divide among them
enum class Causal { visit_all, skip };      // 5.3: invisible tiles are masked, or not visited
enum class Saved { m_and_l, log_sum_exp };  // 7.1: what the backward pass is left with

struct Rung {
  Loop loop;
  Normalize normalize;
  Grid grid;
  Split split;
  Causal causal;
  Saved saved;
  constexpr bool operator==(const Rung&) const = default;
};

constexpr int differences(Rung a, Rung b) {
  return (a.loop != b.loop) + (a.normalize != b.normalize) + (a.grid != b.grid) +
         (a.split != b.split) + (a.causal != b.causal) + (a.saved != b.saved);
}

template <auto field, auto value>
constexpr Rung with(Rung rung) {
  rung.*field = value;
  return rung;
}

inline constexpr Rung v1{Loop::kv_outer, Normalize::each_step, Grid::heads,
                         Split::keys,    Causal::visit_all,    Saved::m_and_l};
inline constexpr Rung v2{Loop::q_outer,  Normalize::once, Grid::q_tiles,
                         Split::queries, Causal::skip,    Saved::log_sum_exp};

}  // namespace flashbench::kernels
