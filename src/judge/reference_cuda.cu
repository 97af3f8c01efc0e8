// One block a query row. The row is walked twice: once for the largest score and the sum of its
// exponentials, once to add up P V over chunks of keys whose weights lie in shared memory.
#include "judge/reference_cuda.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "judge/elements.cuh"

namespace flashbench::judge {
namespace {

using namespace detail;
constexpr int threads = 128;

struct Arguments {
  FlashbenchTensor q, k, v;
  ReferenceOutput out;
  long long rows, seq_q, seq_k, heads, group, shift;
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
struct Sums {
  double m, l;
  float single_m, single_l;
};

__device__ void add(Sums& a, const Sums& b) {
  const double m = isnan(a.m) || isnan(b.m) ? NAN : fmax(a.m, b.m);
  const float single_m = fmaxf(a.single_m, b.single_m);
  if (m > -INFINITY) a.l = a.l * exp(a.m - m) + b.l * exp(b.m - m);
  if (single_m > -INFINITY)
    a.single_l =
        a.single_l * expf(a.single_m - single_m) + b.single_l * expf(b.single_m - single_m);
  a.m = m;
  a.single_m = single_m;
}

// A query row in both precisions.
struct Query {
  double exact[longest_d];
  float single[longest_d];
};

template <class Element>
__device__ void multiply_add(Score& sum, const Query& q, int x, Element key) {
  sum.exact += q.exact[x] * widen(key);
  sum.single = fmaf(q.single[x], static_cast<float>(key), sum.single);
}

// `by_eight`: d, and each row's place, are multiples of 8.
template <class Element>
__device__ Score score(const Query& q, const Element* k, int d, double scale, bool by_eight) {
  Score sum{0, 0};
  if (by_eight) {
    for (int x = 0; x < d; x += 8) {
      const auto keys = *reinterpret_cast<const Eight<Element>*>(k + x);
#pragma unroll
      for (int i = 0; i < 8; ++i) multiply_add(sum, q, x + i, keys.x[i]);
    }
  } else {
    for (int x = 0; x < d; ++x) multiply_add(sum, q, x, k[x]);
  }
  return {sum.exact * scale, sum.single * static_cast<float>(scale)};
}

template <class Element>
__device__ const Element* matrix(const FlashbenchTensor& t, long long b, long long h) {
  return static_cast<const Element*>(t.data) + b * t.batch + h * t.head;
}

__device__ Sums reduce(Sums* shared, Sums mine) {
  shared[threadIdx.x] = mine;
  __syncthreads();
  for (int step = threads / 2; step > 0; step /= 2) {
    if (static_cast<int>(threadIdx.x) < step) add(shared[threadIdx.x], shared[threadIdx.x + step]);
    __syncthreads();
  }
  return shared[0];
}

template <class Element>
__global__ void __launch_bounds__(threads) reference_rows(const __grid_constant__ Arguments a) {
  __shared__ Query query;
  __shared__ double weight[threads];
  __shared__ float single_weight[threads];
  __shared__ Sums partial[threads];
  for (long long row = blockIdx.x; row < a.rows; row += gridDim.x) {
    const long long i = row % a.seq_q, b = row / a.seq_q / a.heads, h = row / a.seq_q % a.heads;
    const long long seen = min(a.seq_k, max(0LL, i + 1 + a.shift));
    const Element* q = matrix<Element>(a.q, b, h) + i * a.q.seq;
    const Element* k = matrix<Element>(a.k, b, h / a.group);
    const Element* v = matrix<Element>(a.v, b, h / a.group);
    __syncthreads();
    for (int x = threadIdx.x; x < a.d; x += threads) {
      query.exact[x] = widen(q[x]);
      query.single[x] = static_cast<float>(q[x]);
    }
    __syncthreads();
    Sums mine{-INFINITY, 0, -INFINITY, 0};
    for (long long j = threadIdx.x; j < seen; j += threads) {
      const Score s = score(query, k + j * a.k.seq, a.d, a.scale, a.by_eight);
      add(mine, {s.exact, 1, s.single, 1});
    }
    const Sums sums = reduce(partial, mine);
    double o[longest_d / threads] = {};
    float single_o[longest_d / threads] = {};
    for (long long first = 0; first < seen; first += threads) {
      const long long j = first + threadIdx.x;
      __syncthreads();
      if (j < seen) {
        const Score s = score(query, k + j * a.k.seq, a.d, a.scale, a.by_eight);
        weight[threadIdx.x] = exp(s.exact - sums.m) / sums.l;
        single_weight[threadIdx.x] =
            rounded<Element>(expf(s.single - sums.single_m) / sums.single_l);
      }
      __syncthreads();
      const int here = static_cast<int>(min(seen - first, static_cast<long long>(threads)));
      for (int x = threadIdx.x, n = 0; x < a.d; x += threads, ++n)
        for (int t = 0; t < here; ++t) {
          const double value = widen(v[(first + t) * a.v.seq + x]);
          o[n] += weight[t] * value;
          single_o[n] = fmaf(single_weight[t], static_cast<float>(value), single_o[n]);
        }
    }
    for (int x = threadIdx.x, n = 0; x < a.d; x += threads, ++n) {
      a.out.o[row * a.d + x] = o[n];
      if (a.out.comparator) a.out.comparator[row * a.d + x] = rounded<Element>(single_o[n]);
    }
    if (threadIdx.x == 0) {
      a.out.lse[row] = seen == 0 ? -INFINITY : sums.m + log(sums.l);
      if (a.out.top) a.out.top[row] = sums.m;
    }
  }
}

const void* kernel_of(FlashbenchDtype dtype) {
  switch (dtype) {
    case FLASHBENCH_FP16:
      return reinterpret_cast<const void*>(&reference_rows<__half>);
    case FLASHBENCH_BF16:
      return reinterpret_cast<const void*>(&reference_rows<__nv_bfloat16>);
    default:
      return reinterpret_cast<const void*>(&reference_rows<float>);
  }
}

}  // namespace

FlashbenchStatus reference_forward(const FlashbenchProblem& p, const FlashbenchForward& inputs,
                                   const ReferenceOutput& output, void* stream,
                                   FlashbenchMessage* message) {
  if (p.head_dim > detail::longest_d)
    return detail::say(FLASHBENCH_UNSUPPORTED, message,
                       "the reference takes head dimensions up to 256");
  const long long rows = p.batch * p.query_heads * p.seq_q;
  if (rows == 0) return FLASHBENCH_OK;
  const FlashbenchTensor& k = inputs.k;
  const long long places[] = {p.head_dim, k.batch, k.seq, k.head,
                              static_cast<long long>(reinterpret_cast<std::uintptr_t>(k.data) / 4)};
  const bool by_eight =
      std::all_of(std::begin(places), std::end(places), [](long long x) { return x % 8 == 0; });
  Arguments a{inputs.q,
              inputs.k,
              inputs.v,
              output,
              rows,
              p.seq_q,
              p.seq_k,
              p.query_heads,
              p.query_heads / p.kv_heads,
              p.mask == FLASHBENCH_CAUSAL ? p.seq_k - p.seq_q : p.seq_k,
              static_cast<int>(p.head_dim),
              p.scale,
              by_eight};
  void* parameters[] = {&a};
  const auto blocks = static_cast<unsigned>(std::min(rows, 2147483647LL));
  const cudaError_t error = cudaLaunchKernel(kernel_of(p.dtype), dim3(blocks), dim3(threads),
                                             parameters, 0, static_cast<cudaStream_t>(stream));
  if (error != cudaSuccess) {
    cudaGetLastError();
    return detail::say(FLASHBENCH_FAILED, message, cudaGetErrorString(error));
  }
  return FLASHBENCH_OK;
}

}  // namespace flashbench::judge
