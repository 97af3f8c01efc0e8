// Softmax of materialised scores, in place: one block a row, bound by bytes.
//
//   P_i = exp(S_i - max S_i) / l_i,  LSE_i = max S_i + ln l_i, for the keys that row i sees; else 0
//
// HBM: S is read once and P written once for rows of up to `held_elements` a thread times the
// block's threads; what is longer is read again. Registers: the row. Shared memory: the reductions.
#pragma once

#include <cfloat>

#include "kernels/blocks/ptx.cuh"

namespace flashbench::kernels {

struct SoftmaxArguments {
  void* scores;        // (rows, pitch)
  float* lse;          // (rows), may be null
  std::int64_t rows;   // B * Hq * Sq
  std::int64_t pitch;  // elements, a multiple of 8
  int seq_q, seq_k, shift;
};

inline constexpr int held_vectors = 4;  // of eight elements, a thread
inline constexpr int softmax_most_threads = 512;

FLASHBENCH_INLINE float widen(__half x) {
  return __half2float(x);
}
FLASHBENCH_INLINE float widen(__nv_bfloat16 x) {
  return __bfloat162float(x);
}

template <class Element>
struct Vector {
  union {
    uint4 bits;
    Element x[8];
  };
};

// Over all threads of the block; `identity` where a warp does not exist.
template <class F>
FLASHBENCH_INLINE float block_reduce(float x, float identity, float (&scratch)[32], F f) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) x = f(x, __shfl_xor_sync(every_lane, x, step));
  __syncthreads();  // the last reduction's readers are done
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = x;
  __syncthreads();
  x = threadIdx.x % 32 < blockDim.x / 32 ? scratch[threadIdx.x % 32] : identity;
#pragma unroll
  for (int step = 16; step > 0; step /= 2) x = f(x, __shfl_xor_sync(every_lane, x, step));
  return x;
}

// A row as this thread's share of 16-byte vectors: the first `held_vectors` stay in registers, the
// rest is read from memory whenever it is visited. f(vector, first column).
template <class Element>
struct RowShare {
  Vector<Element>* row;
  int end;  // columns that the row sees
  Vector<Element> held[held_vectors];

  FLASHBENCH_INLINE void load() {
#pragma unroll
    for (int i = 0; i < held_vectors; ++i)
      if (at(i) * 8 < end) held[i].bits = row[at(i)].bits;
  }
  template <class F>
  FLASHBENCH_INLINE void visit(F f) {
#pragma unroll
    for (int i = 0; i < held_vectors; ++i)
      if (at(i) * 8 < end) f(held[i], at(i) * 8);
    for (int i = held_vectors; at(i) * 8 < end; ++i) {
      Vector<Element> vector;
      vector.bits = row[at(i)].bits;
      f(vector, at(i) * 8);
    }
  }
  FLASHBENCH_INLINE static int at(int i) {
    return threadIdx.x + i * blockDim.x;
  }
};

template <class Element>
FLASHBENCH_INLINE void softmax_row(Vector<Element>* row, int end, int seq_k, float* lse,
                                   float (&scratch)[32]) {
  RowShare<Element> share{row, end, {}};
  share.load();
  auto each = [&](auto f) {
    share.visit([&](const Vector<Element>& vector, int column) {
#pragma unroll
      for (int i = 0; i < 8; ++i)
        if (column + i < end) f(widen(vector.x[i]));
    });
  };
  float m = -INFINITY, l = 0;
  each([&](float s) { m = fmaxf(m, s); });
  m = block_reduce(m, -INFINITY, scratch, [](float a, float b) { return fmaxf(a, b); });
  const float finite_m = fmaxf(m, -FLT_MAX);
  each([&](float s) { l += exp2_approximate((s - finite_m) * log2_e); });
  l = block_reduce(l, 0, scratch, [](float a, float b) { return a + b; });
  if (lse != nullptr && threadIdx.x == 0) *lse = m + logf(l);
  const float inverse = l == 0 ? 1 : 1 / l;
  share.visit([&](Vector<Element>& vector, int column) {
    Vector<Element> p;
#pragma unroll
    for (int i = 0; i < 8; i += 2) {
      auto weight = [&](int j) {
        return column + j < end
                   ? exp2_approximate((widen(vector.x[j]) - finite_m) * log2_e) * inverse
                   : 0;
      };
      (&p.bits.x)[i / 2] = pack<Element>(weight(i), weight(i + 1));
    }
    row[column / 8].bits = p.bits;
  });
  const int visited = (end + 7) / 8, vectors = (seq_k + 7) / 8;
  for (int i = visited + threadIdx.x; i < vectors; i += blockDim.x) row[i].bits = {0, 0, 0, 0};
}

template <class Element>
__global__ void __launch_bounds__(softmax_most_threads)
    softmax_in_place(const __grid_constant__ SoftmaxArguments args) {
  __shared__ float scratch[32];
  for (std::int64_t row = blockIdx.x; row < args.rows; row += gridDim.x) {
    const int query = static_cast<int>(row % args.seq_q);
    const int end = min(args.seq_k, max(0, query + 1 + args.shift));
    auto* scores =
        reinterpret_cast<Vector<Element>*>(static_cast<Element*>(args.scores) + row * args.pitch);
    softmax_row(scores, end, args.seq_k, args.lse ? args.lse + row : nullptr, scratch);
  }
}

// O = 0, LSE = -inf where there is no key at all.
struct ClearArguments {
  void* o;
  float* lse;
  std::int64_t batch, seq, head;  // strides of O
  std::int64_t rows;
  int seq_q, heads, d;
};

template <class Element>
__global__ void clear_rows(const __grid_constant__ ClearArguments args) {
  for (std::int64_t row = blockIdx.x; row < args.rows; row += gridDim.x) {
    const std::int64_t s = row % args.seq_q, bh = row / args.seq_q;
    auto* o = static_cast<Element*>(args.o) + bh / args.heads * args.batch +
              bh % args.heads * args.head + s * args.seq;
    for (int x = threadIdx.x; x < args.d; x += blockDim.x) o[x] = Element(0.0f);
    if (args.lse != nullptr && threadIdx.x == 0) args.lse[row] = -INFINITY;
  }
}

}  // namespace flashbench::kernels
