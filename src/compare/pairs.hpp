// One pair of rows, or a row without a partner: what is said of it. Pure.
#pragma once

#include "record/comparison.hpp"

namespace flashbench {

// What a row is called by in a comparison: no figures.
Row naming(const Row&);
// A row that only one report has: missing is the base report's, added the new one's.
Pair single(const Row&, Change);
// Sets all but row and threshold, of which the latter is heeded.
void judge_pair(Pair&, const Row& base, const Row& now);

}  // namespace flashbench
