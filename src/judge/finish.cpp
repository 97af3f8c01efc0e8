#include "judge/finish.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace flashbench::judge {

void hold_against(BlockReference& reference, std::span<const float> comparator) {
  double most = reference.comparator_error;
  for (std::size_t i = 0; i < comparator.size(); ++i) {
    const double error = std::fabs(static_cast<double>(comparator[i]) - reference.o[i]);
    if (std::isfinite(error)) {
      most = std::max(most, error);
      continue;
    }
    if (std::isfinite(reference.o[i]) && !std::isfinite(comparator[i]))
      reference.excused.push_back(static_cast<std::int64_t>(i));
  }
  reference.comparator_error = most;
}

void patch_wild(BlockReference& reference, const Problem& problem, const Block& block,
                std::span<const Wild> wild) {
  for (const Wild& each : wild)
    for (std::int64_t i = 0; i < block.rows; ++i) {
      const std::int64_t at = i * problem.head_dim + each.column;
      if (each.key < visible_keys(problem, block.first + i))
        reference.o[static_cast<std::size_t>(at)] = std::numeric_limits<double>::quiet_NaN();
      reference.excused.push_back(at);
    }
  std::ranges::sort(reference.excused);
}

}  // namespace flashbench::judge
