// Tiles: what stands for a thread block and its shared memory on a CPU. A Block is one core's tile
// buffers, fp32 and sized to stay in its L2 cache; whatever passes between them and the tensors in
// memory is counted here, where it happens.
#pragma once

#include <cstddef>
#include <cstdint>

#include "flashbench/attention.h"
#include "kernels/cpu/visible.hpp"

namespace flashbench::kernels::cpu {

int64_t element_bytes(FlashbenchDtype);

// One head of a tensor: (S, d), rows `stride` elements apart.
struct Plane {
  std::byte* data;
  int64_t stride;
  int64_t head_dim;
  FlashbenchDtype dtype;

  std::byte* row(int64_t s) const { return data + s * stride * element_bytes(dtype); }
};

Plane plane_of(const FlashbenchProblem&, const FlashbenchTensor&, int64_t batch, int64_t head);

// The planes of query head `index` = b * Hq + h, and the KV head it reads.
struct Head {
  int64_t index;
  Plane q, k, v, o;
};
Head head_of(const FlashbenchProblem&, const FlashbenchForward&, int64_t index);

// Rows of fp32 that a product may read: a tile buffer, or the tensor itself.
struct View {
  const float* data;
  int64_t stride;
};

// Hands out pieces of the workspace. Without a base it only measures.
class Arena {
 public:
  explicit Arena(void* base) : base_(static_cast<std::byte*>(base)) {}
  float* floats(int64_t count) { return reinterpret_cast<float*>(take(count)); }
  int32_t* integers(int64_t count) { return reinterpret_cast<int32_t*>(take(count)); }
  int64_t used() const { return used_; }

 private:
  std::byte* take(int64_t count) {  // of four bytes each
    std::byte* piece = base_ ? base_ + used_ : nullptr;
    used_ += (count * 4 + 255) / 256 * 256;
    return piece;
  }

  std::byte* base_;
  int64_t used_ = 0;
};

struct TileShape {
  int64_t Br;          // rows of Q
  int64_t Bc;          // rows of K and V
  int64_t key_shares;  // warps that split the tile's keys; 1 where they split its rows
};
TileShape clipped(TileShape, const FlashbenchProblem&);  // no larger than the problem

// C (rows, cols) = scale * A (rows, depth) * B (cols, depth)^T
void product_transposed(View a, View b, int64_t rows, int64_t cols, int64_t depth, float scale,
                        float* c, int64_t c_stride);
// C (rows, cols) = keep * C + scale * A (rows, depth) * B (depth, cols); keep is 0 or 1
void product(View a, View b, int64_t rows, int64_t cols, int64_t depth, float scale, float keep,
             float* c, int64_t c_stride);
// C (rows, cols) = keep * C + scale * A (depth, rows)^T * B (depth, cols); keep is 0 or 1
void product_of_transposed(View a, View b, int64_t rows, int64_t cols, int64_t depth, float scale,
                           float keep, float* c, int64_t c_stride);

// How many threads OpenBLAS uses, for a scope: one where the cores already have a tile each.
class BlasThreads {
 public:
  explicit BlasThreads(int threads);
  ~BlasThreads();
  BlasThreads(const BlasThreads&) = delete;
  BlasThreads& operator=(const BlasThreads&) = delete;

 private:
  int before_;
};

// What a core's tile buffers are for either pass: how rows pass between them and memory.
struct TileBuffers {
  explicit TileBuffers(const FlashbenchProblem&);

  // Rows of a tensor as fp32, converted into `buffer` unless a product can read them in place.
  View load(FlashbenchOperand, const Plane&, Rows, float* buffer);
  void load_copy(FlashbenchOperand, const Plane&, Rows, float* buffer);
  void store(FlashbenchOperand, const float* buffer, const Plane&, Rows);
  void load_statistics(const float* from, float* buffer, int64_t rows);
  void store_statistics(const float* buffer, float* to, int64_t rows);  // to may be null
  void barrier() { counts.barriers += 1; }

  int64_t head_dim;
  FlashbenchDtype dtype;
  float scale;
  FlashbenchCounts counts{};
};

struct alignas(128) Block : TileBuffers {
  Block(const FlashbenchProblem&, TileShape, Arena&);

  void scores(View q, View k, int64_t rows, int64_t cols);   // S = scale * Q K^T
  void accumulate(View v, int64_t rows, int64_t cols);       // O += P V
  void partial_outputs(View v, int64_t rows, int64_t cols);  // partial w = P w V w, by share

  // The share of `cols` keys that a warp owns, and how many warps own any.
  Rows share(int64_t warp, int64_t cols) const;
  int64_t shares(int64_t cols) const;
  float* partial_of(int64_t warp) { return partial + warp * shape.Br * head_dim; }

  TileShape shape;
  float *q, *k, *v;           // (Br, d), (Bc, d), (Bc, d)
  float* s;                   // (Br, Bc): S, then P
  float* o;                   // (Br, d)
  float* partial;             // (key_shares, Br, d), only where keys are split
  float *m, *l;               // (Br)
  float *m_new, *correction;  // (Br)
};

// a += b, every count
void add(FlashbenchCounts& a, const FlashbenchCounts& b);

}  // namespace flashbench::kernels::cpu
