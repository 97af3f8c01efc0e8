// Softmax and its backward over materialised scores, in place: one block a row, bound by bytes.
//
//   P_i = exp(S_i - max S_i) / l_i;  D_i = rowsum(dP_i * P_i);  dS_i = P_i * (dP_i - D_i)
//
// for the keys that row i sees; else 0. HBM: S (fp32) and dP are read twice, P and dS written once:
// P, 16 bits, into the first half of S's row, dS over dP. P is made anew of S, and the statistics
// saved by the forward are not needed.
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

inline constexpr int softmax_backward_most_threads = 256;

// Relative to m: the sum of exp(S - m), and of exp(S - m) dP.
struct RowSums {
  float m = -INFINITY, l = 0, dot = 0;

  FLASHBENCH_INLINE void add(float s, float d_p) {
    if (s > m) {
      const float factor = exp2_approximate((m - s) * log2_e);
      l *= factor, dot *= factor, m = s;
    }
    const float e = exp2_approximate((s - m) * log2_e);
    l += e;
    dot = fmaf(e, d_p, dot);
  }
  // Over all threads of the block.
  FLASHBENCH_INLINE void reduce(float (&scratch)[32]) {
    const float largest =
        block_reduce(m, -INFINITY, scratch, [](float a, float b) { return fmaxf(a, b); });
    const float factor = m == -INFINITY ? 0 : exp2_approximate((m - largest) * log2_e);
    auto sum = [](float a, float b) { return a + b; };
    l = block_reduce(l * factor, 0, scratch, sum);
    dot = block_reduce(dot * factor, 0, scratch, sum);
    m = largest;
  }
};

template <class Element>
struct ScoreVector {
  float s[8];
  Vector<Element> d_p;

  FLASHBENCH_INLINE void load(const float* scores, const Vector<Element>* d_ps, int at) {
    const float4 low = reinterpret_cast<const float4*>(scores)[2 * at];
    const float4 high = reinterpret_cast<const float4*>(scores)[2 * at + 1];
    s[0] = low.x, s[1] = low.y, s[2] = low.z, s[3] = low.w;
    s[4] = high.x, s[5] = high.y, s[6] = high.z, s[7] = high.w;
    d_p.bits = d_ps[at].bits;
  }
  // S becomes P, dP becomes dS. `seen` elements are visible.
  FLASHBENCH_INLINE void finish(Vector<Element>& p, const RowSums& sums, int seen) {
    const float inverse = 1 / sums.l, d = sums.dot * inverse;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const float weight = i < seen ? exp2_approximate((s[i] - sums.m) * log2_e) * inverse : 0;
      p.x[i] = Element(weight);
      d_p.x[i] = Element(i < seen ? weight * (widen(d_p.x[i]) - d) : 0);
    }
  }
};

template <class Element>
FLASHBENCH_INLINE void softmax_backward_row(float* scores, Vector<Element>* d_ps, int end,
                                            int seq_k, float (&scratch)[32]) {
  RowSums sums;
  for (int at = threadIdx.x; at * 8 < end; at += blockDim.x) {
    ScoreVector<Element> x;
    x.load(scores, d_ps, at);
#pragma unroll
    for (int i = 0; i < 8; ++i)
      if (at * 8 + i < end) sums.add(x.s[i], widen(x.d_p.x[i]));
  }
  sums.reduce(scratch);
  auto* ps = reinterpret_cast<Vector<Element>*>(scores);
  const int vectors = (seq_k + 7) / 8;
  for (int first = 0; first < vectors; first += blockDim.x) {
    const int at = first + threadIdx.x;
    ScoreVector<Element> x;
    Vector<Element> p;
    if (at < vectors) x.load(scores, d_ps, at);
    __syncthreads();  // P takes half the room of S: it overwrites what all threads have read
    if (at < vectors) {
      x.finish(p, sums, end - at * 8);
      ps[at].bits = p.bits;
      d_ps[at].bits = x.d_p.bits;
    }
  }
}

template <class Element>
__global__ void __launch_bounds__(softmax_backward_most_threads)
    softmax_backward(const __grid_constant__ SoftmaxBackwardArguments args) {
  __shared__ float scratch[32];
  for (std::int64_t row = blockIdx.x; row < args.rows; row += gridDim.x) {
    const int query = static_cast<int>(row % args.seq_q);
    const int end = min(args.seq_k, max(0, query + 1 + args.shift));
    auto* d_p =
        reinterpret_cast<Vector<Element>*>(static_cast<Element*>(args.d_p) + row * args.pitch);
    softmax_backward_row(args.scores + row * args.pitch, d_p, end, args.seq_k, scratch);
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
