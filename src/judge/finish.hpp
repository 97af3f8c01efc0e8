// The last steps of every reference, whatever hardware computed it.
#pragma once

#include <span>

#include "judge/keys.hpp"
#include "judge/reference.hpp"

namespace flashbench::judge {

// Sets the comparator's largest error; `comparator`: its O, (rows, d). What it cannot represent is
// excused.
void hold_against(BlockReference&, std::span<const float> comparator);
// What NaN and infinities of V, which the computation took for 0, make of O.
void patch_wild(BlockReference&, const Problem&, const Block&, std::span<const Wild>);

}  // namespace flashbench::judge
