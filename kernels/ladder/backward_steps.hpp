// The same way for the backward pass: from v1 to v2 one idea at a time, and v2 without one of them.
// There is no v2 without atomic-dq: blocks that run at the same time cannot take turns.
#pragma once

#include "kernels/ladder/steps.hpp"

namespace flashbench::kernels {

struct BackwardStep {
  Facts facts;
  BackwardRung rung;
};

inline constexpr BackwardRung d_once = with<&BackwardRung::dots, Dots::once>(backward_v1);
inline constexpr BackwardRung atomic_dq = with<&BackwardRung::sums, Sums::atomic>(d_once);
inline constexpr BackwardRung grid_over_kv = with<&BackwardRung::grid, Grid::kv_tiles>(atomic_dq);
inline constexpr BackwardRung backward_causal_skip =
    with<&BackwardRung::causal, Causal::skip>(grid_over_kv);
inline constexpr BackwardRung backward_log_sum_exp =
    with<&BackwardRung::saved, Saved::log_sum_exp>(backward_causal_skip);

constexpr BackwardStep step(const char* name, const char* idea, const char* section,
                            BackwardRung rung) {
  return {{name, idea, section, FLASHBENCH_BACKWARD}, rung};
}

inline constexpr std::array backward_ladder{
    step("ladder/v1", "the start: v1, all of a head in one block", "7.1, 7.2, 7.3", backward_v1),
    step("ladder/d-once", "D is computed once, beforehand, not at every visit", "7.3", d_once),
    step("ladder/atomic-dq", "dQ is added to atomically, not read and written in turn", "7.2",
         atomic_dq),
    step("ladder/grid-over-kv", "a block a K/V tile, not a block a head", "7.2", grid_over_kv),
    step("ladder/causal-skip", "tiles that no query sees are not visited", "5.3",
         backward_causal_skip),
    step("ladder/logsumexp", "one statistic a row is read, not two: v2", "7.1",
         backward_log_sum_exp)};

inline constexpr std::array backward_without{
    step("without/d-once", "v2, but D is computed at every visit", "7.3",
         with<&BackwardRung::dots, Dots::each_visit>(backward_v2)),
    step("without/grid-over-kv", "v2, but a block walks all K/V tiles of its head", "7.2",
         with<&BackwardRung::grid, Grid::heads>(backward_v2)),
    step("without/causal-skip", "v2, but tiles that no query sees are visited and masked", "5.3",
         with<&BackwardRung::causal, Causal::visit_all>(backward_v2)),
    step("without/logsumexp", "v2, but m and l are saved", "7.1",
         with<&BackwardRung::saved, Saved::m_and_l>(backward_v2))};

// Every rung that a kernel is built for.
inline constexpr auto backward_rungs = all_rungs<BackwardRung>(backward_ladder, backward_without);

static_assert(one_idea_each(backward_ladder, backward_without, backward_v1, backward_v2),
              "neighbours differ in exactly one idea, and the last rung is v2");

}  // namespace flashbench::kernels
