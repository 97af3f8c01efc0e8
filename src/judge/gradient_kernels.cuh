// The kernels of a slice's gradients, in the order in which they run: S and dP, P = softmax(S), O,
// dS, and the products that make dQ, dK and dV; then what P and dS say of the least errors. P and
// dS lie in memory for the slice's rows and all keys; tiles that the mask leaves nothing of are
// passed over.
#pragma once

#include "judge/elements.cuh"
#include "judge/product.cuh"
#include "judge/row_errors.hpp"

namespace flashbench::judge::detail {

inline constexpr int threads = 256;
static_assert(threads == product_threads);

// What all kernels know of a slice.
struct Slice {
  long long first, rows, seq_q, seq_k, shift;
  int d;
  FlashbenchDtype dtype, stored;  // stored: of S and dP
  double scale;
  const float *q, *d_o, *k, *v;  // (rows, d), (Sk, d)
  const float *q_most, *d_o_most, *k_most;

  __device__ bool rounded_scores() const { return stored != FLASHBENCH_FP32; }
  // Keys that a row of the slice sees.
  __device__ long long seen(long long row) const {
    return min(seq_k, max(0LL, (first + row) % seq_q + 1 + shift));
  }
  // The most that one of `count` rows sees; they may be of several heads.
  __device__ long long most_seen(long long row, long long count) const {
    const long long i = (first + row) % seq_q + count - 1;
    return min(seq_k, max(0LL, min(i, seq_q - 1) + 1 + shift));
  }
};

// What one precision makes of it: fp64 is the reference, fp32 the comparator.
template <class Real>
struct Made {
  Real *p, *ds;         // (rows, Sk); S and dP at first
  Real *o, *dq;         // (rows, d)
  Real *dk, *dv;        // (Sk, d)
  double* score_sizes;  // (rows); null in the comparator's
};

// What comes of the exact P and dS: see LeastErrors (least_error.hpp).
struct LeastErrorsMade {
  const double* p_k;  // (rows, d)
  RowErrors* rows;
  double *dq_terms, *dq_scores;                         // (rows)
  double *dk_terms, *dk_scores, *dv_terms, *dv_scores;  // (Sk)
};

// `x` as the dtype holds it; fp64 is never rounded.
inline __device__ double kept(FlashbenchDtype, double x) {
  return x;
}
inline __device__ float kept(FlashbenchDtype dtype, float x) {
  return dtype == FLASHBENCH_FP16   ? rounded<__half>(x)
         : dtype == FLASHBENCH_BF16 ? rounded<__nv_bfloat16>(x)
                                    : x;
}

// A block's values made one by `join`.
template <class Real, class Join>
__device__ Real reduce(Real mine, Join join) {
  __shared__ Real shared[threads];
  __syncthreads();
  shared[threadIdx.x] = mine;
  __syncthreads();
  for (int step = threads / 2; step > 0; step /= 2) {
    if (static_cast<int>(threadIdx.x) < step)
      shared[threadIdx.x] = join(shared[threadIdx.x], shared[threadIdx.x + step]);
    __syncthreads();
  }
  return shared[0];
}
template <class Real>
__device__ Real largest(Real mine) {
  return reduce(mine, [](Real a, Real b) { return fmax(a, b); });
}
template <class Real>
__device__ Real total(Real mine) {
  return reduce(mine, [](Real a, Real b) { return a + b; });
}

// Numbers that are not negative compare like the integers of their bits.
inline __device__ void raise(double* most, double x) {
  atomicMax(reinterpret_cast<long long*>(most), __double_as_longlong(x));
}

// Rows in fp32 without gaps, and, unless null, the largest |element| of each. A block a row.
template <class Element>
__global__ void __launch_bounds__(threads)
    widen_rows(FlashbenchTensor from, long long first, long long seq, int d, float* to,
               float* most) {
  const long long row = blockIdx.x, head = (first + row) / seq, i = (first + row) % seq;
  const auto* elements = static_cast<const Element*>(from.data) + head * from.head + i * from.seq;
  float mine = 0;
  for (int x = threadIdx.x; x < d; x += threads) {
    const auto value = static_cast<float>(elements[x]);
    to[row * d + x] = value;
    mine = fmaxf(mine, fabsf(value));
  }
  mine = largest(mine);
  if (most && threadIdx.x == 0) most[row] = mine;
}

// S = scale Q K^T, and dP = dO V^T where blockIdx.y is 1. A block a tile.
template <class Real>
__global__ void __launch_bounds__(threads, 2)
    make_scores(const __grid_constant__ Slice a, const __grid_constant__ Made<Real> made) {
  __shared__ ProductMemory<Real> memory;
  const long long tiles = (a.rows + tile - 1) / tile;
  const long long row = blockIdx.x % tiles * tile, key = blockIdx.x / tiles * tile;
  if (key >= a.most_seen(row, min(a.rows - row, static_cast<long long>(tile)))) return;
  const bool scores = blockIdx.y == 0;
  TileSums<Real> sums;
  add_product(sums, memory, Operand<float>{scores ? a.q : a.d_o, a.rows, a.d, 1}, row,
              Operand<float>{scores ? a.k : a.v, a.seq_k, a.d, 1}, key, 0, a.d);
  const Real scale = scores ? static_cast<Real>(a.scale) : Real{1};
  Real* to = scores ? made.p : made.ds;
  for_elements(sums, row, a.rows, key, a.seq_k, [&](long long i, long long j, Real x) {
    to[i * a.seq_k + j] = kept(a.stored, x * scale);
  });
}

// P = softmax(S) in place; 0 at the keys that a row does not see. A block a row.
template <class Real>
__global__ void __launch_bounds__(threads)
    make_weights(const __grid_constant__ Slice a, const __grid_constant__ Made<Real> made) {
  const long long row = blockIdx.x, seen = a.seen(row);
  Real* p = made.p + row * a.seq_k;
  Real top = -INFINITY, sum = 0;
  for (long long j = threadIdx.x; j < seen; j += threads) top = fmax(top, p[j]);
  top = largest(top);
  for (long long j = threadIdx.x; j < seen; j += threads) sum += p[j] = exp(p[j] - top);
  sum = total(sum);
  if (made.score_sizes && threadIdx.x == 0)
    made.score_sizes[row] = seen == 0 ? 0 : fmax(fabs(top), fabs(top + log(sum)));
  for (long long j = threadIdx.x; j < a.seq_k; j += threads)
    p[j] = j < seen ? kept(a.dtype, p[j] / sum) : Real{0};
}

// P V or dS K: (rows, d). A block a tile.
template <class Real>
__global__ void __launch_bounds__(threads, 2)
    sum_over_keys(const __grid_constant__ Slice a, const Real* pairs, const float* keys, Real* to) {
  constexpr long long stretch = 256;  // summed by themselves, as OpenBLAS does about as many
  __shared__ ProductMemory<Real> memory;
  const long long row = static_cast<long long>(blockIdx.x) * tile, x = blockIdx.y * tile;
  const long long seen = a.most_seen(row, min(a.rows - row, static_cast<long long>(tile)));
  TileSums<Real> sums;
  for (long long key = 0; key < seen; key += stretch)
    add_product(sums, memory, Operand<Real>{pairs, a.rows, a.seq_k, 1}, row,
                Operand<float>{keys, a.d, 1, a.d}, x, key, min(seen, key + stretch));
  for_elements(sums, row, a.rows, x, a.d,
               [&](long long i, long long j, Real value) { to[i * a.d + j] = value; });
}

// dS = P (dP - D) in place, D = rowsum(dO * O). A block a row.
template <class Real>
__global__ void __launch_bounds__(threads)
    differentiate(const __grid_constant__ Slice a, const __grid_constant__ Made<Real> made) {
  const long long row = blockIdx.x, seen = a.seen(row);
  Real dot = 0;
  for (int x = threadIdx.x; x < a.d; x += threads)
    dot += a.d_o[row * a.d + x] * kept(a.dtype, made.o[row * a.d + x]);
  dot = total(dot);
  const Real* p = made.p + row * a.seq_k;
  Real* ds = made.ds + row * a.seq_k;
  for (long long j = threadIdx.x; j < a.seq_k; j += threads)
    ds[j] = j < seen ? kept(a.dtype, p[j] * (ds[j] - dot)) : Real{0};
}

// dK += dS^T Q, and dV += P^T dO where blockIdx.z is 1. A block a tile.
template <class Real>
__global__ void __launch_bounds__(threads, 2)
    sum_over_rows(const __grid_constant__ Slice a, const __grid_constant__ Made<Real> made) {
  __shared__ ProductMemory<Real> memory;
  const long long key = static_cast<long long>(blockIdx.x) * tile, x = blockIdx.y * tile;
  const bool keys = blockIdx.z == 0;
  TileSums<Real> sums;
  for (long long row = 0; row < a.rows; row += tile) {
    const long long count = min(a.rows - row, static_cast<long long>(tile));
    if (a.most_seen(row, count) <= key) continue;
    add_product(sums, memory, Operand<Real>{keys ? made.ds : made.p, a.seq_k, 1, a.seq_k}, key,
                Operand<float>{keys ? a.q : a.d_o, a.d, 1, a.d}, x, row, row + count);
  }
  Real* to = keys ? made.dk : made.dv;
  for_elements(sums, key, a.seq_k, x, a.d,
               [&](long long i, long long j, Real value) { to[i * a.d + j] += value; });
}

// The least errors of a row and of its dQ. A block a row.
inline __global__ void __launch_bounds__(threads)
    measure_rows(const __grid_constant__ Slice a, const __grid_constant__ Made<double> made,
                 const __grid_constant__ LeastErrorsMade to) {
  const long long row = blockIdx.x;
  const double *p = made.p + row * a.seq_k, *ds = made.ds + row * a.seq_k;
  double dot = 0, squares = 0, p_k = 0, top = 0, most = 0;
  for (int x = threadIdx.x; x < a.d; x += threads) {
    const double product = a.d_o[row * a.d + x] * made.o[row * a.d + x];
    dot += product;
    squares += product * product;
    p_k = fmax(p_k, fabs(to.p_k[row * a.d + x]));
  }
  dot = total(dot);
  p_k = largest(p_k);
  for (long long j = threadIdx.x; j < a.seq_k; j += threads) {
    const double product = ds[j] + p[j] * dot;  // P dP
    squares += product * product;
    top = fmax(top, p[j]);
  }
  squares = total(squares);
  top = largest(top);
  const RowErrors errors = row_errors(dot, squares, made.score_sizes[row], top, a.rounded_scores());
  for (long long j = threadIdx.x; j < a.seq_k; j += threads)
    most = fmax(most, units_of_ds(errors, p[j], ds[j], a.rounded_scores()) * a.k_most[j]);
  most = largest(most);
  if (threadIdx.x > 0) return;
  to.rows[row] = errors;
  to.dq_terms[row] = fmax(most, errors.dot_units * p_k);
  to.dq_scores[row] = errors.weight * most + errors.dot_of_weights * p_k;
}

// The least errors of dK and dV. A thread a key, a block a stretch of the rows.
inline __global__ void __launch_bounds__(threads)
    measure_keys(const __grid_constant__ Slice a, const __grid_constant__ Made<double> made,
                 const __grid_constant__ LeastErrorsMade to) {
  const long long blocks = (a.seq_k + threads - 1) / threads;
  const long long key = blockIdx.x % blocks * threads + threadIdx.x;
  const long long first = blockIdx.x / blocks * tile;
  if (key >= a.seq_k) return;
  double dk_term = 0, dk_scores = 0, dv_term = 0, dv_scores = 0;
  for (long long i = first; i < min(a.rows, first + tile); ++i) {
    const RowErrors row = to.rows[i];
    const double p = made.p[i * a.seq_k + key], ds = made.ds[i * a.seq_k + key];
    const double units = units_of_ds(row, p, ds, a.rounded_scores());
    dk_term = fmax(dk_term, fmax(units, p * row.dot_units) * a.q_most[i]);
    dk_scores += fp32_of_ds(row, p, ds) * a.q_most[i];
    dv_term = fmax(dv_term, p * row.score_units * a.d_o_most[i]);
    dv_scores += p * row.weight * a.d_o_most[i];
  }
  raise(to.dk_terms + key, dk_term);
  raise(to.dv_terms + key, dv_term);
  atomicAdd(to.dk_scores + key, dk_scores);
  atomicAdd(to.dv_scores + key, dv_scores);
}

}  // namespace flashbench::judge::detail
