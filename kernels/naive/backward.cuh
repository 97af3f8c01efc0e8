// Softmax and its backward over materialised scores, in place, bound by bytes.
//
//   P_i = exp(S_i - max S_i) / l_i;  D_i = rowsum(dP_i * P_i);  dS_i = P_i * (dP_i - D_i)
//
// for the keys that row i sees; else 0. HBM: S (fp32) and dP are read once, P and dS written once:
// P, 16 bits, into the first half of S's row, dS over dP. A row that is too long for a warp's
// registers is read again, from L2. P is made anew of S, and the statistics saved by the forward
// are not needed.
#pragma once

#include "kernels/naive/softmax.cuh"

namespace flashbench::kernels {

struct SoftmaxBackwardArguments {
  float* scores;       // (rows, pitch); afterwards P in the first half of each row
  void* d_p;           // (rows, pitch); afterwards dS
  std::int64_t rows;   // B * Hq * Sq
  std::int64_t pitch;  // elements, a multiple of 8
  int seq_q, seq_k, shift;
};

using SoftmaxBackwardBlock = BlockRow<256>;

// Eight scores of a row, and their dP.
template <class Element>
struct ScoreVector {
  float s[8];
  Vector<Element> d_p;

  // What lies from column `end` on reads as S = -inf, dP = 0.
  FLASHBENCH_INLINE void load(const float* scores, const Vector<Element>* d_ps, int at, int end) {
    const int seen = end - at * 8;
    float4 low{}, high{};
    d_p.bits = {0, 0, 0, 0};
    if (seen > 0) {
      low = reinterpret_cast<const float4*>(scores)[2 * at];
      high = reinterpret_cast<const float4*>(scores)[2 * at + 1];
      d_p.bits = d_ps[at].bits;
    }
    s[0] = low.x, s[1] = low.y, s[2] = low.z, s[3] = low.w;
    s[4] = high.x, s[5] = high.y, s[6] = high.z, s[7] = high.w;
    if (seen < 8) {
#pragma unroll
      for (int i = 0; i < 8; ++i)
        if (i >= seen) s[i] = -INFINITY, d_p.x[i] = Element(0.0f);
    }
  }
  FLASHBENCH_INLINE float largest(float m) const {
#pragma unroll
    for (int i = 0; i < 8; ++i) m = fmaxf(m, s[i]);
    return m;
  }
  FLASHBENCH_INLINE void exponentiate(float m) {
#pragma unroll
    for (int i = 0; i < 8; ++i) s[i] = exp2_approximate((s[i] - m) * log2_e);
  }
};

// Relative to m: the sums of exp(S - m), and of exp(S - m) dP. m is finite also where the row sees
// nothing.
struct RowSums {
  float m = -FLT_MAX, l = 0, dot = 0;

  // x holds exp(S - m).
  template <class Element>
  FLASHBENCH_INLINE void add(const ScoreVector<Element>& x) {
#pragma unroll
    for (int i = 0; i < 8; ++i) l += x.s[i], dot = fmaf(x.s[i], widen(x.d_p.x[i]), dot);
  }
  FLASHBENCH_INLINE void rescale(float to) {
    const float factor = exp2_approximate((m - to) * log2_e);
    l *= factor, dot *= factor, m = to;
  }
};

// x holds exp(S - m).
template <class Element>
FLASHBENCH_INLINE void store_gradient(ScoreVector<Element>& x, const RowSums& sums,
                                      Vector<Element>& p, Vector<Element>& d_s) {
  const float inverse = sums.l == 0 ? 1 : 1 / sums.l, d = sums.dot * inverse;
  Vector<Element> weights, gradient;
#pragma unroll
  for (int i = 0; i < 8; i += 2) {
    const float low = x.s[i] * inverse, high = x.s[i + 1] * inverse;
    (&weights.bits.x)[i / 2] = pack<Element>(low, high);
    (&gradient.bits.x)[i / 2] =
        pack<Element>(low * (widen(x.d_p.x[i]) - d), high * (widen(x.d_p.x[i + 1]) - d));
  }
  p.bits = weights.bits;
  d_s.bits = gradient.bits;
}

// P takes half the room of S: it overwrites what other threads read. They have read all of it
// before `sync`.
template <class Element>
FLASHBENCH_INLINE void held_backward_row(float* scores, Vector<Element>* d_ps, int end, int seq_k) {
  using Row = WarpRow;
  const int vectors = (seq_k + 7) / 8;
  ScoreVector<Element> held[held_vectors];
  RowSums sums;
#pragma unroll
  for (int i = 0; i < held_vectors; ++i) {
    held[i].load(scores, d_ps, Row::index() + i * 32, end);
    sums.m = held[i].largest(sums.m);
  }
  sums.m = row_max<Row>(sums.m);
#pragma unroll
  for (int i = 0; i < held_vectors; ++i) held[i].exponentiate(sums.m), sums.add(held[i]);
  sums.l = row_sum<Row>(sums.l), sums.dot = row_sum<Row>(sums.dot);
  Row::sync();
#pragma unroll
  for (int i = 0; i < held_vectors; ++i)
    if (const int at = Row::index() + i * 32; at < vectors)
      store_gradient(held[i], sums, reinterpret_cast<Vector<Element>*>(scores)[at], d_ps[at]);
}

template <class Element, class Row>
FLASHBENCH_INLINE void read_again_backward_row(float* scores, Vector<Element>* d_ps, int end,
                                               int seq_k) {
  RowSums sums;
  for (int at = Row::index(); at * 8 < end; at += Row::threads()) {
    ScoreVector<Element> x;
    x.load(scores, d_ps, at, end);
    sums.rescale(x.largest(sums.m));
    x.exponentiate(sums.m);
    sums.add(x);
  }
  sums.rescale(row_max<Row>(sums.m));
  sums.l = row_sum<Row>(sums.l), sums.dot = row_sum<Row>(sums.dot);
  const int vectors = (seq_k + 7) / 8;
  for (int first = 0; first < vectors; first += Row::threads()) {
    const int at = first + Row::index();
    ScoreVector<Element> x;
    x.load(scores, d_ps, at, end);
    Row::sync();
    if (at >= vectors) continue;
    x.exponentiate(sums.m);
    store_gradient(x, sums, reinterpret_cast<Vector<Element>*>(scores)[at], d_ps[at]);
  }
}

template <class Element, class Row>
__global__ void __launch_bounds__(Row::most_threads)
    softmax_backward(const __grid_constant__ SoftmaxBackwardArguments args) {
  for (std::int64_t row = Row::first(); row < args.rows; row += Row::step()) {
    const int query = static_cast<int>(row % args.seq_q);
    const int end = min(args.seq_k, max(0, query + 1 + args.shift));
    auto* scores = args.scores + row * args.pitch;
    auto* d_p =
        reinterpret_cast<Vector<Element>*>(static_cast<Element*>(args.d_p) + row * args.pitch);
    if constexpr (Row::holds)
      held_backward_row(scores, d_p, end, args.seq_k);
    else
      read_again_backward_row<Element, Row>(scores, d_p, end, args.seq_k);
  }
}

// Sums over the heads of a group, (B, Hkv, Sk, d), into a tensor.
struct RoundArguments {
  const float* sums;
  void* tensor;
  std::int64_t batch, seq, head;  // strides of the tensor
  std::int64_t rows;              // B * Hkv * Sk
  int seq_k, heads, d;
};

template <class Element>
__global__ void round_sums(const __grid_constant__ RoundArguments args) {
  for (std::int64_t row = blockIdx.x; row < args.rows; row += gridDim.x) {
    const std::int64_t s = row % args.seq_k, bh = row / args.seq_k;
    auto* out = static_cast<Element*>(args.tensor) + bh / args.heads * args.batch +
                bh % args.heads * args.head + s * args.seq;
    for (int x = threadIdx.x; x < args.d; x += blockDim.x)
      out[x] = Element(args.sums[row * args.d + x]);
  }
}

}  // namespace flashbench::kernels
