// Which keys a query sees. Causal is aligned bottom right: query i sees the keys 0 ... i + Sk - Sq;
// full attention is the same with an infinite shift.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "flashbench/attention.h"

namespace flashbench::kernels::cpu {

struct Rows {  // of one head's (S, d)
  int64_t first, count;
  int64_t end() const { return first + count; }
};

inline int64_t tile_count(int64_t length, int64_t tile) {
  return (length + tile - 1) / tile;
}
inline Rows tile_rows(int64_t index, int64_t tile, int64_t length) {
  return {index * tile, std::min(tile, length - index * tile)};
}

class Visible {
 public:
  explicit Visible(const FlashbenchProblem& problem)
      : seq_q_(problem.seq_q),
        seq_k_(problem.seq_k),
        shift_(problem.mask == FLASHBENCH_CAUSAL ? problem.seq_k - problem.seq_q
                                                 : std::numeric_limits<int64_t>::max() / 2) {}

  // Query i sees the keys [0, limit(i)).
  int64_t limit(int64_t i) const { return std::clamp<int64_t>(i + shift_ + 1, 0, seq_k_); }

  // No query of the tile sees a key from here on.
  int64_t kv_end(Rows q) const { return q.count > 0 ? limit(q.end() - 1) : 0; }

  // No query before this one sees a key of the tile.
  int64_t q_begin(Rows kv) const { return std::clamp<int64_t>(kv.first - shift_, 0, seq_q_); }

  // Some query of the tile q does not see some key of the tile kv.
  bool crosses(Rows q, Rows kv) const { return limit(q.first) < kv.end(); }

  // S = -inf where masked; s is (q.count, stride). Comes after the scale: -inf meets no product.
  void mask(float* s, int64_t stride, Rows q, Rows kv) const {
    for (int64_t r = 0; r < q.count; ++r) {
      const int64_t seen = std::clamp<int64_t>(limit(q.first + r) - kv.first, 0, kv.count);
      std::fill(s + r * stride + seen, s + r * stride + kv.count,
                -std::numeric_limits<float>::infinity());
    }
  }

 private:
  int64_t seq_q_;
  int64_t seq_k_;
  int64_t shift_;
};

}  // namespace flashbench::kernels::cpu
