// The pass rule, block by block, and the sum of its outcomes.
#pragma once

#include <string>

#include "judge/reference.hpp"
#include "record/row.hpp"

namespace flashbench::judge {

// What was found in one block of one tensor, or in several together.
struct Outcome {
  double max_abs = 0, squares = 0, ratio = 0;
  std::int64_t elements = 0, rows = 0, failed_blocks = 0;
  std::array<std::int64_t, 4> worst{-1, -1, -1, -1};
  std::string reason;      // of the worst failure
  bool misplaced = false;  // NaN or infinity where it must not be, or the reverse
};

// got: (rows, d) of the block. `score_errors`: what each row's scores may be off by in fp32
// (score_errors.hpp); a row's O may be off by what that moves. `rounded_scores`: the implementation
// keeps S in memory in the dtype, so that the comparator that does so too is its measure
// (BlockReference::rounded_scores_error).
Outcome compare_o(const Block&, const BlockReference&, const float* got, std::int64_t d,
                  double largest_v, std::span<const double> score_errors, bool rounded_scores);
// `rounded_scores` allows one unit of the dtype at the size of the scores.
Outcome compare_lse(const Block&, const BlockReference&, const float* got,
                    std::span<const double> score_errors, Dtype, bool rounded_scores);
// Gradients: three times the comparator's error, which counts as `least` at the least. A block is
// up to 64 rows of one head from row `first` on; wanted, comparator, got: (rows, d). largest: of
// the operands. What is not finite must not be so in `got` either; elsewhere NaN and infinity are
// wrong, except where the comparator overflows too, where the bound reaches beyond what the dtype
// holds (infinity then, never NaN), or everywhere if `spreads`: a NaN among the inputs may reach
// this tensor by a masked weight's 0 * NaN.
Outcome compare_gradient(const char* tensor, const Block&, const double* wanted,
                         const float* comparator, const float* got, std::int64_t d, Dtype,
                         double least, double largest, bool spreads);
void add(Outcome& sum, const Outcome& part);
TensorCheck to_check(const std::string& tensor, const Outcome&, std::int64_t rows_total);

}  // namespace flashbench::judge
