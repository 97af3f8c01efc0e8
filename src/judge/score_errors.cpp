#include "judge/score_errors.hpp"

#include <algorithm>
#include <cmath>

#include "judge/keys.hpp"

namespace flashbench::judge {

ScoreErrors::ScoreErrors(const Inputs& inputs, std::int64_t batch, std::int64_t head)
    : inputs_(inputs),
      longest_(
          inputs.row_lengths(Tensor::k, batch, inputs.kv_head(head), 0, inputs.problem().seq_k)) {
  for (std::size_t j = 1; j < longest_.size(); ++j)
    longest_[j] = std::max(longest_[j], longest_[j - 1]);
}

std::vector<double> ScoreErrors::of(const Block& block) const {
  const Problem& problem = inputs_.problem();
  std::vector<double> errors =
      inputs_.row_lengths(Tensor::q, block.batch, block.head, block.first, block.rows);
  for (std::int64_t i = 0; i < block.rows; ++i) {
    const std::int64_t visible = visible_keys(problem, block.first + i);
    const double longest = visible == 0 ? 0 : longest_[static_cast<std::size_t>(visible - 1)];
    errors[static_cast<std::size_t>(i)] *= 0x1p-23 * std::fabs(problem.scale) * longest;
  }
  return errors;
}

}  // namespace flashbench::judge
