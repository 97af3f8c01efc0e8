// One block some neighbouring query rows of a head, so that an element of K or V, once read and
// widened, serves all of them. The keys are walked twice: once for the largest scores and the sums
// of their exponentials, once to add up P V over chunks of keys whose weights lie in shared memory.
#pragma once

#include "judge/elements.cuh"
#include "judge/reference_cuda.hpp"

namespace flashbench::judge::reference_kernel {

using namespace detail;
inline constexpr int threads = 128;
inline constexpr int rows_a_block = 4;

struct Arguments {
  FlashbenchTensor q, k, v;
  ReferenceOutput out;
  long long heads, seq_q, seq_k, query_heads, group, shift;  // heads: of all batches
  int d;
  double scale;
  bool by_eight;  // keys lie so that eight elements can be read at once
};

// A score in both precisions.
struct Score {
  double exact;
  float single;
};

// The largest score, and the sum of exponentials relative to it, of some keys.
template <class Float>
struct Sum {
  Float m = -INFINITY, l = 0;
};

inline __device__ double exponential(double x) {
  return exp(x);
}
inline __device__ float exponential(float x) {
  return expf(x);
}

// A NaN among the scores makes the sum NaN.
template <class Float>
__device__ void add(Sum<Float>& a, const Sum<Float>& b) {
  if (b.m <= a.m) {
    if (a.m > -INFINITY) a.l += b.l * exponential(b.m - a.m);
  } else {
    a.l = (a.m > -INFINITY ? a.l * exponential(a.m - b.m) : 0) + b.l;
    a.m = b.m;
  }
}

struct Sums {
  Sum<double> exact;
  Sum<float> single;
};

// Query rows in both precisions, column by column.
struct Queries {
  double exact[longest_d][rows_a_block];
  float single[longest_d][rows_a_block];
};

struct Weights {
  double exact[threads][rows_a_block];
  float single[threads][rows_a_block];
};

template <class Element>
__device__ void multiply_add(Score (&sums)[rows_a_block], const Queries& q, int x, Element key) {
  const double exact = widen(key);
  const auto single = static_cast<float>(key);
#pragma unroll
  for (int r = 0; r < rows_a_block; ++r) {
    sums[r].exact += q.exact[x][r] * exact;
    sums[r].single = fmaf(q.single[x][r], single, sums[r].single);
  }
}

// The scores of one key. `by_eight`: d, and each row's place, are multiples of 8.
template <class Element>
__device__ void scores(Score (&sums)[rows_a_block], const Queries& q, const Element* k,
                       const Arguments& a) {
#pragma unroll
  for (Score& sum : sums) sum = {0, 0};
  if (a.by_eight) {
    for (int x = 0; x < a.d; x += 8) {
      const auto keys = *reinterpret_cast<const Eight<Element>*>(k + x);
#pragma unroll
      for (int i = 0; i < 8; ++i) multiply_add(sums, q, x + i, keys.x[i]);
    }
  } else {
    for (int x = 0; x < a.d; ++x) multiply_add(sums, q, x, k[x]);
  }
#pragma unroll
  for (Score& sum : sums) {
    sum.exact *= a.scale;
    sum.single *= static_cast<float>(a.scale);
  }
}

template <class Element>
__device__ const Element* matrix(const FlashbenchTensor& t, long long b, long long h) {
  return static_cast<const Element*>(t.data) + b * t.batch + h * t.head;
}

// Over all threads of the block.
inline __device__ Sums reduce(Sums (&shared)[threads], const Sums& mine) {
  __syncthreads();
  shared[threadIdx.x] = mine;
  __syncthreads();
  for (int step = threads / 2; step > 0; step /= 2) {
    if (static_cast<int>(threadIdx.x) < step) {
      add(shared[threadIdx.x].exact, shared[threadIdx.x + step].exact);
      add(shared[threadIdx.x].single, shared[threadIdx.x + step].single);
    }
    __syncthreads();
  }
  return shared[0];
}

// The rows that a block computes, of one head.
template <class Element>
struct Rows {
  const Element *q, *k, *v;
  long long head, first;
  int count;
  long long seen[rows_a_block], most_seen = 0;  // keys; none by rows that do not exist

  __device__ Rows(const Arguments& a, long long share) {
    const long long shares = (a.seq_q + rows_a_block - 1) / rows_a_block;
    head = share / shares, first = share % shares * rows_a_block;
    count = static_cast<int>(min(static_cast<long long>(rows_a_block), a.seq_q - first));
    const long long b = head / a.query_heads, h = head % a.query_heads;
    q = matrix<Element>(a.q, b, h) + first * a.q.seq;
    k = matrix<Element>(a.k, b, h / a.group);
    v = matrix<Element>(a.v, b, h / a.group);
#pragma unroll
    for (int r = 0; r < rows_a_block; ++r) {
      seen[r] = r < count ? min(a.seq_k, max(0LL, first + r + 1 + a.shift)) : 0;
      most_seen = max(most_seen, seen[r]);
    }
  }
};

template <class Element>
__device__ void widen_queries(Queries& to, const Rows<Element>& rows, const Arguments& a) {
  for (int x = threadIdx.x; x < a.d; x += threads)
#pragma unroll
    for (int r = 0; r < rows_a_block; ++r) {
      const Element q = r < rows.count ? rows.q[r * a.q.seq + x] : Element(0.0f);
      to.exact[x][r] = widen(q);
      to.single[x][r] = static_cast<float>(q);
    }
}

template <class Element>
__device__ void sum_up(Sums (&sums)[rows_a_block], const Queries& q, const Rows<Element>& rows,
                       const Arguments& a) {
  for (long long j = threadIdx.x; j < rows.most_seen; j += threads) {
    Score s[rows_a_block];
    scores(s, q, rows.k + j * a.k.seq, a);
#pragma unroll
    for (int r = 0; r < rows_a_block; ++r)
      if (j < rows.seen[r]) {
        add(sums[r].exact, {s[r].exact, 1});
        add(sums[r].single, {s[r].single, 1});
      }
  }
}

// Those of key j, of this thread.
template <class Element>
__device__ void put_weights(Weights& to, const Queries& q, const Sums (&sums)[rows_a_block],
                            const Rows<Element>& rows, long long j, const Arguments& a) {
  if (j >= rows.most_seen) return;
  Score s[rows_a_block];
  scores(s, q, rows.k + j * a.k.seq, a);
#pragma unroll
  for (int r = 0; r < rows_a_block; ++r) {
    const auto& [exact, single] = sums[r];
    const bool seen = j < rows.seen[r];
    to.exact[threadIdx.x][r] = seen ? exp(s[r].exact - exact.m) / exact.l : 0;
    to.single[threadIdx.x][r] =
        seen ? rounded<Element>(expf(s[r].single - single.m) / single.l) : 0;
  }
}

// f(n, x) for this thread's nth column, x.
template <class F>
__device__ void each_column(const Arguments& a, F f) {
#pragma unroll
  for (int n = 0; n < longest_d / threads; ++n)
    if (const int x = n * threads + static_cast<int>(threadIdx.x); x < a.d) f(n, x);
}

// Adds P V of some keys, column x.
template <class Element>
__device__ void add_values(Score (&o)[rows_a_block], const Weights& p, const Element* v,
                           const Rows<Element>& rows, long long first, const Arguments& a) {
  int ends[rows_a_block];
#pragma unroll
  for (int r = 0; r < rows_a_block; ++r)
    ends[r] = static_cast<int>(min(rows.seen[r] - first, static_cast<long long>(threads)));
  const int end = static_cast<int>(min(rows.most_seen - first, static_cast<long long>(threads)));
  for (int t = 0; t < end; ++t) {
    const Element value = v[(first + t) * a.v.seq];
    const double exact = widen(value);
    const auto single = static_cast<float>(value);
#pragma unroll
    for (int r = 0; r < rows_a_block; ++r) {
      if (t >= ends[r]) continue;  // V may be NaN there
      o[r].exact += p.exact[t][r] * exact;
      o[r].single = fmaf(p.single[t][r], single, o[r].single);
    }
  }
}

template <class Element>
__device__ void write(const Rows<Element>& rows, const Sums (&sums)[rows_a_block],
                      const Score (&o)[longest_d / threads][rows_a_block], const Arguments& a) {
#pragma unroll
  for (int r = 0; r < rows_a_block; ++r) {
    if (r >= rows.count) return;
    const long long row = rows.head * a.seq_q + rows.first + r;
    each_column(a, [&](int n, int x) {
      a.out.o[row * a.d + x] = o[n][r].exact;
      if (a.out.comparator) a.out.comparator[row * a.d + x] = rounded<Element>(o[n][r].single);
    });
    if (threadIdx.x != 0) continue;
    a.out.lse[row] = rows.seen[r] == 0 ? -INFINITY : sums[r].exact.m + log(sums[r].exact.l);
    if (a.out.top) a.out.top[row] = sums[r].exact.m;
  }
}

template <class Element>
__global__ void __launch_bounds__(threads) reference_rows(const __grid_constant__ Arguments a) {
  __shared__ Queries queries;
  __shared__ Weights weights;
  __shared__ Sums partial[threads];
  const long long shares = a.heads * ((a.seq_q + rows_a_block - 1) / rows_a_block);
  for (long long share = blockIdx.x; share < shares; share += gridDim.x) {
    const Rows<Element> rows(a, share);
    __syncthreads();
    widen_queries(queries, rows, a);
    __syncthreads();
    Sums sums[rows_a_block];
    sum_up(sums, queries, rows, a);
#pragma unroll
    for (Sums& row : sums) row = reduce(partial, row);
    Score o[longest_d / threads][rows_a_block] = {};
    for (long long first = 0; first < rows.most_seen; first += threads) {
      __syncthreads();
      put_weights(weights, queries, sums, rows, first + threadIdx.x, a);
      __syncthreads();
      each_column(a, [&](int n, int x) { add_values(o[n], weights, rows.v + x, rows, first, a); });
    }
    write(rows, sums, o, a);
  }
}

}  // namespace flashbench::judge::reference_kernel
