#include "judge/comparator.hpp"

#include <cblas.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "judge/units.hpp"
#include "worker/dtype.hpp"

namespace flashbench::judge {

namespace {

constexpr std::int64_t weight_bytes = std::int64_t{64} << 20;  // held at once by a call
constexpr std::size_t most_rows_to_draw = 8;                   // of a block

// Draws of the comparator: the same computation at the same precision, with other rounding errors.
// Draw 0 rounds normalised P. Draw n > 0 rounds P relative to a reference value of its own and
// divides at the end, as a kernel does that keeps exp(S - m) under a running maximum m.
struct Draws {
  int first = 0, count = 1;
  bool rounded_scores = false;  // S is rounded to the dtype too: it lies in memory like that
};

// One row's scores to exp(S - max), in place. Returns their sum.
float exponentials(float* s, std::int64_t visible) {
  float top = -std::numeric_limits<float>::infinity();
  for (std::int64_t j = 0; j < visible; ++j) top = std::max(top, s[j]);
  std::array<float, 16> sums{};  // lanes, as any machine would sum
  for (std::int64_t j = 0; j < visible; ++j) {
    s[j] = std::exp(s[j] - top);
    sums[static_cast<std::size_t>(j % 16)] += s[j];
  }
  float sum = 0;
  for (const float lane : sums) sum += lane;
  return sum;
}

// P of one row as a draw rounds it. Returns the factor that makes it normalised.
float weights(Dtype dtype, const float* exponential, std::int64_t visible, float sum, int draw,
              float* p) {
  if (draw == 0) {
    for (std::int64_t j = 0; j < visible; ++j) p[j] = rounded(dtype, exponential[j] / sum);
    return 1;
  }
  // Multiples of the golden ratio spread evenly over a binade, however many there are.
  const double turn = draw * std::numbers::phi;
  const auto shift = static_cast<float>(std::exp2(std::floor(turn) - turn));
  for (std::int64_t j = 0; j < visible; ++j) p[j] = rounded(dtype, exponential[j] * shift);
  return visible == 0 ? 0 : 1 / (shift * sum);
}

std::int64_t rows_at_once(const Problem& problem) {
  const std::int64_t row = 4 * std::max<std::int64_t>(problem.seq_k, 1);
  return std::clamp<std::int64_t>(weight_bytes / row, 4, block_rows);
}

// O before it is rounded, by each draw: (draws, rows, d).
std::vector<float> sums(const Problem& problem, const Keys& keys, const std::vector<float>& q,
                        std::int64_t first, const Draws& draws) {
  const auto d = static_cast<int>(problem.head_dim);
  const std::int64_t rows = static_cast<std::int64_t>(q.size()) / d, all = rows * draws.count;
  const std::int64_t count = visible_keys(problem, first + rows - 1);
  std::vector<float> o(static_cast<std::size_t>(all * d), 0.0f);
  if (count == 0) return o;
  const auto m = static_cast<int>(rows), n = static_cast<int>(count);
  std::vector<float> s(static_cast<std::size_t>(rows * count));
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, m, n, d, 1, q.data(), d, keys.k.data(), d, 0,
              s.data(), n);
  const auto scale = static_cast<float>(problem.scale);
  for (float& x : s) x = draws.rounded_scores ? rounded(problem.dtype, x * scale) : x * scale;
  std::vector<float> p(static_cast<std::size_t>(all * count), 0.0f), factors;
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t visible = visible_keys(problem, first + i);
    float* row = s.data() + i * count;
    const float sum = exponentials(row, visible);
    for (int draw = 0; draw < draws.count; ++draw)
      factors.push_back(weights(problem.dtype, row, visible, sum, draws.first + draw,
                                p.data() + (draw * rows + i) * count));
  }
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, static_cast<int>(all), d, n, 1, p.data(),
              n, keys.v.data(), d, 0, o.data(), d);
  for (std::int64_t at = 0; at < all * d; ++at) {
    const std::int64_t draw = at / (rows * d), row = at / d % rows;
    o[static_cast<std::size_t>(at)] *= factors[static_cast<std::size_t>(row * draws.count + draw)];
  }
  return o;
}

// The largest finite error of rows [at, at + rows) of a block over the draws. How O happens to be
// rounded is no draw, for it is the same in nearly all of them: beside its error before that, half
// a unit of O counts at the least, as two independent errors add up.
double largest_error(const Inputs& inputs, const Keys& keys, const Block& block,
                     const BlockReference& reference, std::int64_t at, std::int64_t rows,
                     const Draws& draws) {
  const Problem& problem = inputs.problem();
  const auto q = inputs.rows(Tensor::q, block.batch, block.head, block.first + at, rows);
  const auto o = sums(problem, keys, q, block.first + at, draws);
  const double* exact = reference.o.data() + at * problem.head_dim;
  double most = 0;  // squared
  for (std::size_t at = 0; at < q.size(); ++at) {
    const double wanted = exact[at];
    const double half = draws.first > 0 ? half_unit_at(problem.dtype, wanted) : 0;
    for (std::size_t i = at; i < o.size(); i += q.size()) {
      const double error = rounded(problem.dtype, o[i]) - wanted, before = o[i] - wanted;
      if (!std::isfinite(error)) continue;
      most = std::max(most, error * error);
      if (draws.first > 0) most = std::max(most, before * before + half * half);
    }
  }
  return std::sqrt(most);
}

// Over all further draws of a block.
double drawn_error(const Inputs& inputs, const Keys& keys, const Block& block,
                   const BlockReference& reference, bool rounded_scores) {
  const auto rows = rows_to_draw(reference);
  const auto at_once = static_cast<int>(rows_at_once(inputs.problem()));
  double most = 0;
  for (const std::int64_t row : rows) {
    const int end = static_cast<int>(drawn_rows / rows.size()) + 1;
    for (int draw = 1; draw < end; draw += at_once)
      most = std::max(most, largest_error(inputs, keys, block, reference, row, 1,
                                          {draw, std::min(at_once, end - draw), rounded_scores}));
  }
  return most;
}

}  // namespace

std::vector<float> comparator(const Problem& problem, const Keys& keys, const std::vector<float>& q,
                              std::int64_t first) {
  std::vector<float> o = sums(problem, keys, q, first, {});
  for (float& x : o) x = rounded(problem.dtype, x);
  return o;
}

std::vector<std::int64_t> rows_to_draw(const BlockReference& reference) {
  std::vector<std::pair<double, std::int64_t>> largest;  // by -P of the row's top key
  for (std::size_t i = 0; i < reference.lse.size(); ++i) {
    const double log_p = reference.top[i] - reference.lse[i];
    if (log_p < 0) largest.emplace_back(-log_p, static_cast<std::int64_t>(i));
  }
  const std::size_t count = std::min(largest.size(), most_rows_to_draw);
  std::ranges::partial_sort(largest, largest.begin() + static_cast<std::ptrdiff_t>(count));
  std::vector<std::int64_t> rows;
  for (std::size_t i = 0; i < count; ++i) rows.push_back(largest[i].second);
  return rows;
}

void add_draws(const Inputs& inputs, std::span<const Block> blocks,
               std::span<BlockReference> references) {
  if (blocks.empty() || inputs.problem().dtype == Dtype::fp32) return;  // where 1e-5 binds
  const Keys keys(inputs, blocks.front().batch, blocks.front().head);
  for (std::size_t i = 0; i < blocks.size(); ++i)
    references[i].comparator_error = std::max(
        references[i].comparator_error, drawn_error(inputs, keys, blocks[i], references[i], false));
}

void round_scores(const Inputs& inputs, std::span<const Block> blocks,
                  std::span<BlockReference> references) {
  if (blocks.empty()) return;
  const Keys keys(inputs, blocks.front().batch, blocks.front().head);
  const std::int64_t step = rows_at_once(inputs.problem());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    BlockReference& reference = references[i];
    double most = drawn_error(inputs, keys, blocks[i], reference, true);
    for (std::int64_t at = 0; at < blocks[i].rows; at += step)
      most = std::max(most, largest_error(inputs, keys, blocks[i], reference, at,
                                          std::min(step, blocks[i].rows - at), {0, 1, true}));
    reference.rounded_scores_error = most;
  }
}

}  // namespace flashbench::judge
