#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "judge/comparator.hpp"
#include "judge/finish.hpp"
#include "judge/gradients.hpp"
#include "judge/reference.hpp"

namespace flashbench::judge {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t block_score_bytes = std::int64_t{64} << 20;  // held at once by a call

// Rows of a block taken at a time, so that long keys do not need unbounded memory.
std::int64_t block_slice_rows(const Problem& problem) {
  const std::int64_t row = std::max<std::int64_t>(problem.seq_k, 1) * 12;
  return std::clamp<std::int64_t>(block_score_bytes / row, 4, block_rows);
}

class CpuReference : public Reference {
 public:
  std::int64_t footprint(const Problem& problem) const override {
    const std::int64_t keys = problem.seq_k * problem.head_dim * 24;
    return keys + 12 * problem.seq_k * block_slice_rows(problem) + (1 << 20);
  }
  std::vector<BlockReference> forward(const Inputs&, std::span<const Block>) const override;
  void round_scores(const Inputs& inputs, std::span<const Block> blocks,
                    std::span<BlockReference> references) const override {
    judge::round_scores(inputs, blocks, references);
  }
  GroupGradients gradients(const Inputs& inputs, const Group& group, bool rounded_scores,
                           const std::function<void()>& finished) const override {
    return cpu_gradients(inputs, group, rounded_scores, finished);
  }

 private:
  // Appends to the reference, and to the comparator's O.
  static void slice(const Inputs&, const Keys&, const Block&, BlockReference&,
                    std::vector<float>& other);
  static void exact(const Problem&, const Keys&, const std::vector<float>& q, std::int64_t first,
                    BlockReference&);
};

// Scores of one row to unnormalised probabilities, in place; appends lse and top. Returns 1 / sum.
double softmax(double* s, std::int64_t visible, std::int64_t keys, BlockReference& to) {
  double top = -infinity, sum = 0;
  for (std::int64_t j = 0; j < visible; ++j) top = std::max(top, s[j]);
  for (std::int64_t j = 0; j < visible; ++j) sum += s[j] = std::exp(s[j] - top);
  std::fill(s + visible, s + keys, 0.0);
  to.top.push_back(top);
  to.lse.push_back(visible == 0 ? -infinity : top + std::log(sum));
  return visible == 0 ? 0 : 1 / sum;
}

void CpuReference::exact(const Problem& problem, const Keys& keys, const std::vector<float>& q,
                         std::int64_t first, BlockReference& to) {
  const auto d = static_cast<int>(problem.head_dim);
  const std::int64_t rows = static_cast<std::int64_t>(q.size()) / d;
  const std::int64_t count = visible_keys(problem, first + rows - 1);
  const auto m = static_cast<int>(rows), n = static_cast<int>(count);
  const std::vector<double> wide(q.begin(), q.end());
  std::vector<double> s(static_cast<std::size_t>(rows * count)), o(q.size(), 0.0);
  if (count > 0)
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, m, n, d, 1, wide.data(), d,
                keys.k_double.data(), d, 0, s.data(), n);
  for (double& x : s) x *= problem.scale;
  std::vector<double> weights;
  for (std::int64_t i = 0; i < rows; ++i)
    weights.push_back(softmax(s.data() + i * count, visible_keys(problem, first + i), count, to));
  if (count > 0)
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, d, n, 1, s.data(), n,
                keys.v_double.data(), d, 0, o.data(), d);
  for (std::size_t i = 0; i < o.size(); ++i) o[i] *= weights[i / static_cast<std::size_t>(d)];
  to.o.insert(to.o.end(), o.begin(), o.end());
}

void CpuReference::slice(const Inputs& inputs, const Keys& keys, const Block& block,
                         BlockReference& to, std::vector<float>& other) {
  const std::vector<float> q =
      inputs.rows(Tensor::q, block.batch, block.head, block.first, block.rows);
  exact(inputs.problem(), keys, q, block.first, to);
  const std::vector<float> o = comparator(inputs.problem(), keys, q, block.first);
  other.insert(other.end(), o.begin(), o.end());
}

std::vector<BlockReference> CpuReference::forward(const Inputs& inputs,
                                                  std::span<const Block> blocks) const {
  std::vector<BlockReference> references;
  if (blocks.empty()) return references;
  const Keys keys(inputs, blocks.front().batch, blocks.front().head);
  const std::int64_t rows = block_slice_rows(inputs.problem());
  for (const Block& block : blocks) {
    BlockReference reference;
    std::vector<float> other;
    for (std::int64_t at = 0; at < block.rows; at += rows)
      slice(inputs, keys,
            {block.batch, block.head, block.first + at, std::min(rows, block.rows - at)}, reference,
            other);
    hold_against(reference, other);
    patch_wild(reference, inputs.problem(), block, keys.wild);
    references.push_back(std::move(reference));
  }
  add_draws(inputs, blocks, references);
  return references;
}

}  // namespace

std::unique_ptr<Reference> cpu_reference() {
  return std::make_unique<CpuReference>();
}

}  // namespace flashbench::judge
