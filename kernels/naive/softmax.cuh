// Softmax of materialised scores, in place, bound by bytes.
//
//   P_i = exp(S_i - max S_i) / l_i,  LSE_i = max S_i + ln l_i, for the keys that row i sees; else 0
//
// HBM: S is read once and P written once for rows of up to `held_vectors` vectors a thread; what is
// longer is read again. Registers: the row. Shared memory: a block's reductions.
#pragma once

#include <cfloat>

#include "kernels/naive/row_threads.cuh"

namespace flashbench::kernels {

struct SoftmaxArguments {
  void* scores;        // (rows, pitch)
  float* lse;          // (rows), may be null
  std::int64_t rows;   // B * Hq * Sq
  std::int64_t pitch;  // elements, a multiple of 8
  int seq_q, seq_k, shift;
};

using SoftmaxBlock = BlockRow<512>;

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

// A row as this thread's share of vectors: the first `held_vectors` stay in registers, the rest is
// read from memory whenever it is visited. What the row does not see reads as -inf.
// f(vector, its place in the row).
template <class Element, class Row>
struct RowShare {
  Vector<Element>* row;
  int end;  // columns that the row sees
  Vector<Element> held[held_vectors];

  FLASHBENCH_INLINE void load() {
#pragma unroll
    for (int i = 0; i < held_vectors; ++i)
      if (at(i) * 8 < end) held[i] = read(at(i));
  }
  template <class F>
  FLASHBENCH_INLINE void visit(F f) {
#pragma unroll
    for (int i = 0; i < held_vectors; ++i)
      if (at(i) * 8 < end) f(held[i], at(i));
    if constexpr (!Row::holds)
      for (int i = held_vectors; at(i) * 8 < end; ++i) f(read(at(i)), at(i));
  }
  FLASHBENCH_INLINE static int at(int i) {
    return Row::index() + i * Row::threads();
  }
  FLASHBENCH_INLINE Vector<Element> read(int at) const {
    Vector<Element> vector;
    vector.bits = row[at].bits;
    if (const int seen = end - at * 8; seen < 8) {
#pragma unroll
      for (int i = 0; i < 8; ++i)
        if (i >= seen) vector.x[i] = Element(-INFINITY);
    }
    return vector;
  }
};

template <class Element, class Row>
FLASHBENCH_INLINE void softmax_row(Vector<Element>* row, int end, int seq_k, float* lse) {
  RowShare<Element, Row> share{row, end, {}};
  share.load();
  auto each = [&](auto f) {
    share.visit([&](const Vector<Element>& vector, int) {
#pragma unroll
      for (int i = 0; i < 8; ++i) f(widen(vector.x[i]));
    });
  };
  float m = -FLT_MAX, l = 0;  // finite also where the row sees nothing
  each([&](float s) { m = fmaxf(m, s); });
  m = row_max<Row>(m);
  each([&](float s) { l += exp2_approximate((s - m) * log2_e); });
  l = row_sum<Row>(l);
  if (lse != nullptr && Row::index() == 0) *lse = m + logf(l);
  const float inverse = l == 0 ? 1 : 1 / l;
  share.visit([&](const Vector<Element>& vector, int at) {
    auto weight = [&](int i) {
      return exp2_approximate((widen(vector.x[i]) - m) * log2_e) * inverse;
    };
    Vector<Element> p;
#pragma unroll
    for (int i = 0; i < 8; i += 2) (&p.bits.x)[i / 2] = pack<Element>(weight(i), weight(i + 1));
    row[at].bits = p.bits;
  });
  const int visited = (end + 7) / 8, vectors = (seq_k + 7) / 8;
  for (int i = visited + Row::index(); i < vectors; i += Row::threads()) row[i].bits = {0, 0, 0, 0};
}

template <class Element, class Row>
__global__ void __launch_bounds__(Row::most_threads)
    softmax_in_place(const __grid_constant__ SoftmaxArguments args) {
  for (std::int64_t row = Row::first(); row < args.rows; row += Row::step()) {
    const int query = static_cast<int>(row % args.seq_q);
    const int end = min(args.seq_k, max(0, query + 1 + args.shift));
    auto* scores =
        reinterpret_cast<Vector<Element>*>(static_cast<Element*>(args.scores) + row * args.pitch);
    softmax_row<Element, Row>(scores, end, args.seq_k, args.lse ? args.lse + row : nullptr);
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
