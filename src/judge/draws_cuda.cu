// One block a task: a query row and up to eight draws, which share its scores.
#include <cuda_runtime_api.h>

#include <cmath>
#include <numbers>

#include "judge/elements.cuh"
#include "judge/reference_cuda.hpp"

namespace flashbench::judge {
namespace {

using namespace detail;
constexpr int threads = 128;

struct Arguments {
  FlashbenchTensor q, k, v;
  const double* exact;
  const DrawTask* tasks;
  float* errors;
  long long seq_k, shift;
  int d;
  float scale;
  bool rounded_scores;
};

// The reference value of draw n, relative to the row's largest score: multiples of the golden ratio
// spread evenly over a binade. Draw 0 rounds normalised P instead.
__device__ float shift_of(int draw) {
  const double turn = draw * std::numbers::phi;
  return static_cast<float>(exp2(floor(turn) - turn));
}

// The largest score of some keys, and the sum of exponentials relative to it.
struct Sum {
  float m, l;
};

__device__ Sum operator+(Sum a, Sum b) {
  const float m = fmaxf(a.m, b.m);
  if (m == -INFINITY) return a;
  return {m, a.l * expf(a.m - m) + b.l * expf(b.m - m)};
}

__device__ Sum reduce(Sum* shared, Sum mine) {
  shared[threadIdx.x] = mine;
  __syncthreads();
  for (int step = threads / 2; step > 0; step /= 2) {
    if (static_cast<int>(threadIdx.x) < step)
      shared[threadIdx.x] = shared[threadIdx.x] + shared[threadIdx.x + step];
    __syncthreads();
  }
  return shared[0];
}

template <class Element>
__device__ float score(const Arguments& a, const float* query, long long key) {
  const auto* k = static_cast<const Element*>(a.k.data) + key * a.k.seq;
  float sum = 0;
  if (a.d % 8 == 0) {  // the judge's own copies of the inputs lie without gaps
    for (int x = 0; x < a.d; x += 8) {
      const auto keys = *reinterpret_cast<const Eight<Element>*>(k + x);
#pragma unroll
      for (int i = 0; i < 8; ++i) sum = fmaf(query[x + i], static_cast<float>(keys.x[i]), sum);
    }
  } else {
    for (int x = 0; x < a.d; ++x) sum = fmaf(query[x], static_cast<float>(k[x]), sum);
  }
  sum *= a.scale;
  return a.rounded_scores ? rounded<Element>(sum) : sum;
}

template <class Element>
__global__ void __launch_bounds__(threads) draw_rows(const __grid_constant__ Arguments a) {
  __shared__ float query[longest_d], weight[most_draws][threads];
  __shared__ Sum partial[threads];
  const DrawTask task = a.tasks[blockIdx.x];
  const long long seen = min(a.seq_k, max(0LL, task.row + 1 + a.shift));
  const auto* q = static_cast<const Element*>(a.q.data) + task.row * a.q.seq;
  const auto* v = static_cast<const Element*>(a.v.data);
  for (int x = threadIdx.x; x < a.d; x += threads) query[x] = static_cast<float>(q[x]);
  __syncthreads();
  Sum mine{-INFINITY, 0};
  for (long long j = threadIdx.x; j < seen; j += threads)
    mine = mine + Sum{score<Element>(a, query, j), 1};
  const Sum sum = reduce(partial, mine);
  float o[most_draws][longest_d / threads] = {};
  for (long long first = 0; first < seen; first += threads) {
    const long long j = first + threadIdx.x;
    __syncthreads();
    if (j < seen) {
      const float e = expf(score<Element>(a, query, j) - sum.m);
      for (int n = 0; n < task.count; ++n) {
        const int draw = task.first + n;
        weight[n][threadIdx.x] = rounded<Element>(draw == 0 ? e / sum.l : e * shift_of(draw));
      }
    }
    __syncthreads();
    const int here = static_cast<int>(min(seen - first, static_cast<long long>(threads)));
    for (int x = threadIdx.x, i = 0; x < a.d; x += threads, ++i)
      for (int t = 0; t < here; ++t) {
        const float value = static_cast<float>(v[(first + t) * a.v.seq + x]);
#pragma unroll
        for (int n = 0; n < most_draws; ++n)
          if (n < task.count) o[n][i] = fmaf(weight[n][t], value, o[n][i]);
      }
  }
  float most = 0;
  for (int x = threadIdx.x, i = 0; x < a.d; x += threads, ++i)
    for (int n = 0; n < task.count; ++n) {
      const int draw = task.first + n;
      const float factor = draw == 0 ? 1 : seen == 0 ? 0 : 1 / (shift_of(draw) * sum.l);
      const double wanted = a.exact[task.row * a.d + x];
      const float made = o[n][i] * factor;
      const double error = fabs(rounded<Element>(made) - wanted);
      if (!isfinite(error)) continue;
      most = fmaxf(most, static_cast<float>(error));
      if (draw > 0)  // half a unit of O at the least: see comparator.cpp
        most = fmaxf(most, static_cast<float>(hypot(made - wanted, half_unit_at<Element>(wanted))));
    }
  // Numbers that are not negative compare like the integers of their bits.
  atomicMax(reinterpret_cast<int*>(a.errors + task.slot), __float_as_int(most));
}

}  // namespace

FlashbenchStatus draw_forward(const FlashbenchProblem& p, const FlashbenchForward& inputs,
                              const Drawing& drawing, void* stream, FlashbenchMessage* message) {
  if (drawing.task_count == 0) return FLASHBENCH_OK;
  if (p.dtype == FLASHBENCH_FP32)
    return say(FLASHBENCH_UNSUPPORTED, message, "fp32 rounds nothing, and so there is no draw");
  Arguments a{inputs.q,
              inputs.k,
              inputs.v,
              drawing.exact,
              drawing.tasks,
              drawing.errors,
              p.seq_k,
              p.mask == FLASHBENCH_CAUSAL ? p.seq_k - p.seq_q : p.seq_k,
              static_cast<int>(p.head_dim),
              static_cast<float>(p.scale),
              drawing.rounded_scores};
  void* parameters[] = {&a};
  const void* kernel = p.dtype == FLASHBENCH_FP16
                           ? reinterpret_cast<const void*>(&draw_rows<__half>)
                           : reinterpret_cast<const void*>(&draw_rows<__nv_bfloat16>);
  const cudaError_t error =
      cudaLaunchKernel(kernel, dim3(static_cast<unsigned>(drawing.task_count)), dim3(threads),
                       parameters, 0, static_cast<cudaStream_t>(stream));
  if (error == cudaSuccess) return FLASHBENCH_OK;
  cudaGetLastError();
  return say(FLASHBENCH_FAILED, message, cudaGetErrorString(error));
}

}  // namespace flashbench::judge
