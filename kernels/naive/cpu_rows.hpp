// Whole matrices, a row at a time over all cores: what naive does beside its products.
#pragma once

#include <algorithm>
#include <vector>

#include "kernels/cpu/pool.hpp"
#include "kernels/cpu/tile.hpp"
#include "kernels/cpu/vector.hpp"

namespace flashbench::kernels::cpu {

class NaiveRows {
 public:
  static constexpr int64_t kChunk = 32;  // rows that a core takes at a time

  explicit NaiveRows(int threads) : pool_(threads), counts_(static_cast<size_t>(threads)) {}

  int threads() const { return pool_.threads(); }
  void start() { std::fill(counts_.begin(), counts_.end(), Count{}); }
  FlashbenchCounts& counts() { return counts_[0].value; }  // of what is done between the rows
  FlashbenchCounts sum() const {
    FlashbenchCounts sum{};
    for (const Count& count : counts_) add(sum, count.value);
    return sum;
  }

  // A tensor's head to fp32, contiguous (rows, d), and back.
  void load(FlashbenchOperand operand, const Plane& plane, int64_t rows, float* to) {
    each(rows, [&](int64_t r, FlashbenchCounts& counts) {
      widen(plane.dtype, plane.row(r), to + r * plane.head_dim, plane.head_dim);
      counts.traffic.read[operand] += row_bytes(plane);
    });
  }
  void store(FlashbenchOperand operand, const float* from, const Plane& plane, int64_t rows) {
    each(rows, [&](int64_t r, FlashbenchCounts& counts) {
      narrow(plane.dtype, from + r * plane.head_dim, plane.row(r), plane.head_dim);
      counts.traffic.written[operand] += row_bytes(plane);
    });
  }

  // body(row, counts)
  template <class Body>
  void each(int64_t rows, const Body& body) {
    pool_.run(tile_count(rows, kChunk), [&](int64_t chunk, int worker) {
      const Rows own = tile_rows(chunk, kChunk, rows);
      for (int64_t r = own.first; r < own.end(); ++r)
        body(r, counts_[static_cast<size_t>(worker)].value);
    });
  }

 private:
  struct alignas(128) Count {
    FlashbenchCounts value{};
  };
  static double row_bytes(const Plane& plane) {
    return static_cast<double>(plane.head_dim * element_bytes(plane.dtype));
  }

  Pool pool_;
  std::vector<Count> counts_;
};

// Scores of one head that some query sees. Causal: a rectangle before a triangle; with more queries
// than keys the first rows see none.
inline double seen_pairs(const FlashbenchProblem& problem) {
  const auto queries = static_cast<double>(problem.seq_q),
             keys = static_cast<double>(problem.seq_k);
  if (problem.mask != FLASHBENCH_CAUSAL) return queries * keys;
  const double side = std::min(queries, keys);
  return std::max(keys - queries, 0.0) * queries + side * (side + 1) / 2;
}

}  // namespace flashbench::kernels::cpu
