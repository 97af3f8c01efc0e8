// The ideas that lie between FlashAttention-1 and -2, one field each. A Rung is a template
// parameter of the kernels; `ladder` climbs from v1 to v2 one idea at a time, `without` takes one
// away from v2.
#pragma once

#include <array>
#include <cstddef>

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

struct Step {
  const char* name;  // in the implementation table
  const char* idea;
  const char* section;
  Rung rung;
};

inline constexpr Rung delayed = with<&Rung::normalize, Normalize::once>(v1);
inline constexpr Rung q_outer = with<&Rung::loop, Loop::q_outer>(delayed);
inline constexpr Rung grid_over_q = with<&Rung::grid, Grid::q_tiles>(q_outer);
inline constexpr Rung warps_along_q = with<&Rung::split, Split::queries>(grid_over_q);
inline constexpr Rung causal_skip = with<&Rung::causal, Causal::skip>(warps_along_q);
inline constexpr Rung log_sum_exp = with<&Rung::saved, Saved::log_sum_exp>(causal_skip);

inline constexpr std::array<Step, 7> ladder{
    {{"ladder/v1", "the start: v1 at the tile of all rungs", "2.1, 3.1, 4.1", v1},
     {"ladder/delayed-normalisation", "O is divided by l at the end, not in every step", "3.2",
      delayed},
     {"ladder/q-outer", "Q outside, K and V inside: O, m and l stay in registers", "2.2", q_outer},
     {"ladder/grid-over-q", "a block a Q tile, not a block a head", "2.3", grid_over_q},
     {"ladder/warps-along-q", "the warps divide the queries and exchange nothing", "4.2",
      warps_along_q},
     {"ladder/causal-skip", "tiles that no query sees are not visited", "5.3", causal_skip},
     {"ladder/logsumexp", "one statistic a row is saved, not two: v2 at the tile of all rungs",
      "7.1", log_sum_exp}}};
inline constexpr std::array<Step, 6> without{
    {{"without/delayed-normalisation", "v2, but O divided by l in every step", "3.2",
      with<&Rung::normalize, Normalize::each_step>(v2)},
     {"without/q-outer", "v2, but O, m and l through memory for every K/V tile", "2.2",
      with<&Rung::loop, Loop::kv_outer>(v2)},
     {"without/grid-over-q", "v2, but a block walks all Q tiles of its head", "2.3",
      with<&Rung::grid, Grid::heads>(v2)},
     {"without/warps-along-q", "v2, but the warps divide the keys and merge their products", "4.2",
      with<&Rung::split, Split::keys>(v2)},
     {"without/causal-skip", "v2, but tiles that no query sees are visited and masked", "5.3",
      with<&Rung::causal, Causal::visit_all>(v2)},
     {"without/logsumexp", "v2, but m and l are saved", "7.1",
      with<&Rung::saved, Saved::m_and_l>(v2)}}};

constexpr bool one_idea_each() {
  for (std::size_t i = 1; i < ladder.size(); ++i)
    if (differences(ladder[i - 1].rung, ladder[i].rung) != 1) return false;
  for (const Step& step : without)
    if (differences(step.rung, v2) != 1) return false;
  return ladder.front().rung == v1 && ladder.back().rung == v2;
}
static_assert(one_idea_each(), "neighbours differ in exactly one idea, and the last rung is v2");

}  // namespace flashbench::kernels
