#include "judge/comparator.hpp"

#include <cblas.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "worker/dtype.hpp"

namespace flashbench::judge {

namespace {

// One row's scores to probabilities, in place.
void softmax(Dtype dtype, float* s, std::int64_t visible, std::int64_t keys) {
  float top = -std::numeric_limits<float>::infinity();
  for (std::int64_t j = 0; j < visible; ++j) top = std::max(top, s[j]);
  std::array<float, 16> sums{};  // lanes, as any machine would sum
  for (std::int64_t j = 0; j < visible; ++j) {
    s[j] = std::exp(s[j] - top);
    sums[static_cast<std::size_t>(j % 16)] += s[j];
  }
  float sum = 0;
  for (const float lane : sums) sum += lane;
  for (std::int64_t j = 0; j < visible; ++j) s[j] = rounded(dtype, s[j] / sum);
  std::fill(s + visible, s + keys, 0.0f);
}

}  // namespace

std::vector<float> comparator(const Problem& problem, const Keys& keys, const std::vector<float>& q,
                              std::int64_t first) {
  const auto d = static_cast<int>(problem.head_dim);
  const std::int64_t rows = static_cast<std::int64_t>(q.size()) / d;
  const std::int64_t count = visible_keys(problem, first + rows - 1);
  std::vector<float> o(q.size(), 0.0f);
  if (count == 0) return o;
  const auto m = static_cast<int>(rows), n = static_cast<int>(count);
  std::vector<float> s(static_cast<std::size_t>(rows * count));
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, m, n, d, 1, q.data(), d, keys.k.data(), d, 0,
              s.data(), n);
  const auto scale = static_cast<float>(problem.scale);
  for (float& x : s) x *= scale;
  for (std::int64_t i = 0; i < rows; ++i)
    softmax(problem.dtype, s.data() + i * count, visible_keys(problem, first + i), count);
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, d, n, 1, s.data(), n, keys.v.data(), d,
              0, o.data(), d);
  for (float& x : o) x = rounded(problem.dtype, x);
  return o;
}

}  // namespace flashbench::judge
