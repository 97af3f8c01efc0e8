// The walk from V1 to V2 one idea at a time (kernels/ladder/steps.hpp), found again in the rows of
// a report: what each idea brings. Pure.
#pragma once

#include <string>
#include <vector>

#include "record/row.hpp"

namespace flashbench {

// One line of the walk.
struct LadderLine {
  std::string impl, idea, section;
  std::string vs;        // whom it is held against; empty: nobody
  bool is_rung = false;  // and not v1, v2 or v2 without an idea
};
// The rungs in order, v1 and v2 at their own tiles, v2 without one idea at a time.
const std::vector<LadderLine>& ladder_lines();

// The rows of one problem, pass and source that stand on the ladder.
struct LadderRows {
  std::vector<std::size_t> rows;  // of each of ladder_lines(), its place in the report; or:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
};
// In the report's order; rows called v1 and v2 belong to it where a rung has the same problem.
std::vector<LadderRows> ladders_in(const std::vector<Row>&);

// Fills `ladder` of every row that stands on one.
void add_ladder(std::vector<Row>&);

// What an idea does to the time, by the 95 % interval of its gain: something beyond 1 %, nothing
// (wholly within 1 %), or what the measurement cannot tell: without an interval it never can.
enum class Effect { gains, nothing, loses, unsure };
// Nothing where there is no gain.
std::optional<Effect> effect_of(const LadderPlace&);

}  // namespace flashbench
