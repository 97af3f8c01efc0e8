// The way from v1 to v2 one idea at a time, and v2 without one of them. No kernels: the front reads
// it as well.
#pragma once

#include <array>
#include <cstddef>

#include "kernels/implementations.hpp"
#include "kernels/ladder/rung.hpp"

namespace flashbench::kernels {

struct Step {
  Facts facts;
  Rung rung;
};

inline constexpr Rung delayed = with<&Rung::normalize, Normalize::once>(v1);
inline constexpr Rung q_outer = with<&Rung::loop, Loop::q_outer>(delayed);
inline constexpr Rung grid_over_q = with<&Rung::grid, Grid::q_tiles>(q_outer);
inline constexpr Rung warps_along_q = with<&Rung::split, Split::queries>(grid_over_q);
inline constexpr Rung causal_skip = with<&Rung::causal, Causal::skip>(warps_along_q);
inline constexpr Rung log_sum_exp = with<&Rung::saved, Saved::log_sum_exp>(causal_skip);

constexpr Step step(const char* name, const char* idea, const char* section, Rung rung) {
  return {{name, idea, section, FLASHBENCH_FORWARD}, rung};
}

inline constexpr std::array ladder{
    step("ladder/v1", "the start: v1 at the tile of all rungs", "2.1, 3.1, 4.1", v1),
    step("ladder/delayed-normalisation", "O is divided by l at the end, not in every step", "3.2",
         delayed),
    step("ladder/q-outer", "Q outside, K and V inside: O, m and l stay in registers", "2.2",
         q_outer),
    step("ladder/grid-over-q", "a block a Q tile, not a block a head", "2.3", grid_over_q),
    step("ladder/warps-along-q", "the warps divide the queries and exchange nothing", "4.2",
         warps_along_q),
    step("ladder/causal-skip", "tiles that no query sees are not visited", "5.3", causal_skip),
    step("ladder/logsumexp", "one statistic a row is saved, not two: v2 at this tile", "7.1",
         log_sum_exp)};

inline constexpr std::array without{
    step("without/delayed-normalisation", "v2, but O divided by l in every step", "3.2",
         with<&Rung::normalize, Normalize::each_step>(v2)),
    step("without/q-outer", "v2, but O, m and l through memory for every K/V tile", "2.2",
         with<&Rung::loop, Loop::kv_outer>(v2)),
    step("without/grid-over-q", "v2, but a block walks all Q tiles of its head", "2.3",
         with<&Rung::grid, Grid::heads>(v2)),
    step("without/warps-along-q", "v2, but the warps divide the keys and merge their products",
         "4.2", with<&Rung::split, Split::keys>(v2)),
    step("without/causal-skip", "v2, but tiles that no query sees are visited and masked", "5.3",
         with<&Rung::causal, Causal::visit_all>(v2)),
    step("without/logsumexp", "v2, but m and l are saved", "7.1",
         with<&Rung::saved, Saved::m_and_l>(v2))};

// Every rung that a kernel is built for.
inline constexpr std::array<Rung, ladder.size() + without.size()> rungs = [] {
  std::array<Rung, ladder.size() + without.size()> all{};
  std::size_t n = 0;
  for (const Step& step : ladder) all[n++] = step.rung;
  for (const Step& step : without) all[n++] = step.rung;
  return all;
}();

constexpr bool one_idea_each() {
  for (std::size_t i = 1; i < ladder.size(); ++i)
    if (differences(ladder[i - 1].rung, ladder[i].rung) != 1) return false;
  for (const Step& step : without)
    if (differences(step.rung, v2) != 1) return false;
  return ladder.front().rung == v1 && ladder.back().rung == v2;
}
static_assert(one_idea_each(), "neighbours differ in exactly one idea, and the last rung is v2");

}  // namespace flashbench::kernels
