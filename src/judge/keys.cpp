#include "judge/keys.hpp"

#include <algorithm>
#include <cmath>

namespace flashbench::judge {

std::int64_t visible_keys(const Problem& problem, std::int64_t row) {
  if (problem.mask == Mask::full) return problem.seq_k;
  return std::clamp<std::int64_t>(row + 1 + problem.seq_k - problem.seq_q, 0, problem.seq_k);
}

std::vector<Wild> take_wild(std::vector<float>& v, std::int64_t d) {
  std::vector<Wild> wild;
  std::vector<bool> met(static_cast<std::size_t>(d));
  for (std::size_t i = 0; i < v.size(); ++i) {
    if (std::isfinite(v[i])) continue;
    const std::size_t column = i % met.size();
    if (!met[column])
      wild.push_back(
          {static_cast<std::int64_t>(i / met.size()), static_cast<std::int64_t>(column)});
    met[column] = true;
    v[i] = 0;
  }
  return wild;
}

Keys::Keys(const Inputs& inputs, std::int64_t batch, std::int64_t head) {
  const Problem& problem = inputs.problem();
  const std::int64_t kv = inputs.kv_head(head);
  k = inputs.rows(Tensor::k, batch, kv, 0, problem.seq_k);
  v = inputs.rows(Tensor::v, batch, kv, 0, problem.seq_k);
  wild = take_wild(v, problem.head_dim);
  k_double.assign(k.begin(), k.end());
  v_double.assign(v.begin(), v.end());
}

}  // namespace flashbench::judge
