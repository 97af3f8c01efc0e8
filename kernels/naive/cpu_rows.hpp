// Whole matrices over all cores: what naive does a row at a time, and its products.
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

  // The products of kernels/cpu/tile.hpp, each core computing its own part of C. Of the library's
  // own threads none is used: they are slower, and handing work to them allocates.
  void product_transposed(View a, View b, int64_t rows, int64_t cols, int64_t depth, float scale,
                          float* c, int64_t c_stride) {
    each_part(rows, cols, depth, [&](const Part& own) {
      cpu::product_transposed(below(a, own.row), below(b, own.col), own.rows, own.cols, depth,
                              scale, c + own.row * c_stride + own.col, c_stride);
    });
  }
  void product(View a, View b, int64_t rows, int64_t cols, int64_t depth, float scale, float keep,
               float* c, int64_t c_stride) {
    each_part(rows, cols, depth, [&](const Part& own) {
      cpu::product(below(a, own.row), beside(b, own.col), own.rows, own.cols, depth, scale, keep,
                   c + own.row * c_stride + own.col, c_stride);
    });
  }
  void product_of_transposed(View a, View b, int64_t rows, int64_t cols, int64_t depth, float scale,
                             float keep, float* c, int64_t c_stride) {
    each_part(rows, cols, depth, [&](const Part& own) {
      cpu::product_of_transposed(beside(a, own.row), beside(b, own.col), own.rows, own.cols, depth,
                                 scale, keep, c + own.row * c_stride + own.col, c_stride);
    });
  }

 private:
  struct alignas(128) Count {
    FlashbenchCounts value{};
  };

  struct Part {  // of C
    int64_t row, rows, col, cols;
  };
  // body(part). The longer side of C is divided, into one part a core and no smaller ones: for each
  // part the library packs the operand along the other side anew. What takes no longer than waking
  // a core does is not divided.
  template <class Body>
  void each_part(int64_t rows, int64_t cols, int64_t depth, const Body& body) {
    constexpr int64_t kLeastProducts = 1 << 17;  // multiply-adds of a part: a few us
    const int64_t length = std::max(rows, cols);
    const int64_t products = std::max<int64_t>(1, std::min(rows, cols) * depth);  // of a unit of it
    const int64_t share =
        std::max(tile_count(length, threads()), tile_count(kLeastProducts, products));
    pool_.run(tile_count(length, share), [&](int64_t index, int) {
      const auto [first, count] = tile_rows(index, share, length);
      body(rows >= cols ? Part{first, count, 0, cols} : Part{0, rows, first, count});
    });
  }
  static View below(View view, int64_t row) { return {view.data + row * view.stride, view.stride}; }
  static View beside(View view, int64_t col) { return {view.data + col, view.stride}; }

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
