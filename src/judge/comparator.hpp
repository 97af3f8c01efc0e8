// The same-dtype unfused computation that sets the tolerance: fp32 scores and softmax, P rounded to
// the dtype, fp32 accumulation, O rounded. What is compared with it, and why: docs/judging.md.
#pragma once

#include <span>
#include <vector>

#include "judge/keys.hpp"
#include "judge/reference.hpp"

namespace flashbench::judge {

// O of query rows [first, first + rows) of one head, (rows, d), as q is.
std::vector<float> comparator(const Problem&, const Keys&, const std::vector<float>& q,
                              std::int64_t first);

// Raises comparator_error to the largest over further draws. One draw of a row whose P lies on few
// keys is no measure of its dtype's error: those few roundings may all happen to be small. So the
// bound of a block also rests on 64 drawn rows: of those up to 8 rows whose P is most concentrated,
// as many draws each. A block of one row is drawn 64 times.
void add_draws(const Inputs&, std::span<const Block>, std::span<BlockReference>);
// Finds rounded_scores_error, over as many draws.
void round_scores(const Inputs&, std::span<const Block>, std::span<BlockReference>);
inline constexpr std::size_t drawn_rows = 64;
// The rows of a block that are drawn again: those with the largest P, but none that sees one key.
// They share drawn_rows draws evenly, from draw 1 on.
std::vector<std::int64_t> rows_to_draw(const BlockReference&);

}  // namespace flashbench::judge
