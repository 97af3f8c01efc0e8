// The same-dtype unfused computation that sets the tolerance: fp32 scores and softmax, P rounded to
// the dtype, fp32 accumulation, O rounded.
#pragma once

#include <vector>

#include "judge/keys.hpp"

namespace flashbench::judge {

// O of query rows [first, first + q.size() / d): q is (rows, d).
std::vector<float> comparator(const Problem&, const Keys&, const std::vector<float>& q,
                              std::int64_t first);

}  // namespace flashbench::judge
