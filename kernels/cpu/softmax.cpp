#include "kernels/cpu/softmax.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu/vector.hpp"

namespace flashbench::kernels::cpu {
namespace {

constexpr float kNone = -std::numeric_limits<float>::infinity();  // the maximum of no key

// What to subtract from the scores: -inf - -inf would be NaN, and a row of no keys has only zeros.
float reference_point(float m) {
  return m == kNone ? 0.0f : m;
}

// correction = e^(m - m_new), 0 where there was no key yet
void correct(Block& block, int64_t rows) {
  for (int64_t r = 0; r < rows; ++r)
    block.correction[r] = block.m[r] == kNone ? kNone : block.m[r] - block.m_new[r];
  row_exp(block.correction, rows, 0.0f, FLASHBENCH_FP32);
  block.counts.exponentials += static_cast<double>(rows);
}

}  // namespace

void DelayedSoftmax::start(Block& block, int64_t rows) {
  std::fill_n(block.o, rows * block.head_dim, 0.0f);
  std::fill_n(block.m, rows, kNone);
  std::fill_n(block.l, rows, 0.0f);
}

void DelayedSoftmax::step(Block& block, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r)
    block.m_new[r] = std::max(block.m[r], row_max(block.s + r * block.shape.Bc, cols));
  correct(block, rows);
  for (int64_t r = 0; r < rows; ++r) {
    const float sum =
        row_exp(block.s + r * block.shape.Bc, cols, reference_point(block.m_new[r]), block.dtype);
    block.counts.exponentials += static_cast<double>(cols);
    block.l[r] = block.correction[r] * block.l[r] + sum;
    if (block.m[r] != block.m_new[r] && block.m[r] != kNone) {
      row_scale(block.o + r * block.head_dim, block.head_dim, block.correction[r]);
      block.counts.corrections += static_cast<double>(block.head_dim);
    }
    block.m[r] = block.m_new[r];
  }
}

void DelayedSoftmax::finish(Block& block, int64_t rows) {
  for (int64_t r = 0; r < rows; ++r) {
    float* o = block.o + r * block.head_dim;
    if (block.l[r] == 0.0f) {
      std::fill_n(o, block.head_dim, 0.0f);
      block.l[r] = kNone;
    } else {
      row_divide(o, block.head_dim, block.l[r], FLASHBENCH_FP32);
      block.counts.divisions += static_cast<double>(block.head_dim);
      block.l[r] = block.m[r] + std::log(block.l[r]);
    }
  }
}

void NormalizedSoftmax::start(Block& block, int64_t rows) {
  std::fill_n(block.m, rows, kNone);
  std::fill_n(block.l, rows, 0.0f);
}

void NormalizedSoftmax::step(Block& block, int64_t rows, int64_t cols) {
  const int64_t warps = block.shares(cols);
  const double merges = static_cast<double>(rows * std::max<int64_t>(0, warps - 1));
  std::copy_n(block.m, rows, block.m_new);
  for (int64_t warp = 0; warp < warps; ++warp) {  // each warp's maxima, merged
    const Rows own = block.share(warp, cols);
    for (int64_t r = 0; r < rows; ++r)
      block.m_new[r] =
          std::max(block.m_new[r], row_max(block.s + r * block.shape.Bc + own.first, own.count));
  }
  block.counts.merges += merges;
  block.barrier();
  correct(block, rows);
  for (int64_t r = 0; r < rows; ++r) block.l[r] *= block.correction[r];
  std::copy_n(block.l, rows, block.correction);
  for (int64_t warp = 0; warp < warps; ++warp) {  // each warp's sums, merged
    const Rows own = block.share(warp, cols);
    for (int64_t r = 0; r < rows; ++r)
      block.l[r] += row_exp(block.s + r * block.shape.Bc + own.first, own.count,
                            reference_point(block.m_new[r]), block.dtype);
    block.counts.exponentials += static_cast<double>(rows * own.count);
  }
  block.counts.merges += merges;
  block.barrier();
  std::copy_n(block.m_new, rows, block.m);
}

void NormalizedSoftmax::merge_outputs(Block& block, int64_t rows, int64_t cols, bool first) {
  const int64_t d = block.head_dim;
  block.barrier();
  for (int64_t r = 0; r < rows; ++r) {
    float* pv = block.partial + r * d;
    for (int64_t warp = 1; warp < block.shares(cols); ++warp) {
      row_add(pv, block.partial_of(warp) + r * d, d);
      block.counts.merges += 1;
    }
    float* o = block.o + r * d;
    const float l = block.l[r];
    if (l == 0.0f) {
      std::fill_n(o, d, 0.0f);
    } else if (first) {
      std::copy_n(pv, d, o);
      row_divide(o, d, l, FLASHBENCH_FP32);
      block.counts.divisions += static_cast<double>(d);
    } else {
      row_renormalize(o, pv, d, block.correction[r], l);
      block.counts.corrections += static_cast<double>(d);
      block.counts.divisions += 2.0 * static_cast<double>(d);
    }
  }
}

}  // namespace flashbench::kernels::cpu
