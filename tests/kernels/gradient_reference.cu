// P and dS of every (query, key) pair first, then a thread an element of each gradient.
#include "kernels/gradient_reference.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>

#include "kernels/cuda/error.hpp"

namespace flashbench::tests {
namespace {

struct Pair {
  double p, ds;
  float rounded_p, rounded_ds;
};

struct Arguments {
  FlashbenchTensor q, k, v, d_o;
  ForwardReference forward;
  GradientReference out;
  Pair* pairs;  // (B, Hq, Sq, Sk)
  long long count, batch, seq_q, seq_k, heads, kv_heads, shift;
  int d;
  bool fp16;
  double scale;
};

__device__ float element(const Arguments& a, const FlashbenchTensor& t, long long b, long long s,
                         long long h, int x) {
  const long long at = b * t.batch + s * t.seq + h * t.head + x;
  return a.fp16 ? __half2float(static_cast<const __half*>(t.data)[at])
                : __bfloat162float(static_cast<const __nv_bfloat16*>(t.data)[at]);
}
__device__ float rounded(const Arguments& a, float x) {
  return a.fp16 ? __half2float(__float2half_rn(x)) : __bfloat162float(__float2bfloat16_rn(x));
}

__global__ void make_pairs(const __grid_constant__ Arguments a) {
  const long long first = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
  for (long long n = first; n < a.count; n += static_cast<long long>(gridDim.x) * blockDim.x) {
    const long long j = n % a.seq_k, row = n / a.seq_k, i = row % a.seq_q, bh = row / a.seq_q;
    const long long b = bh / a.heads, h = bh % a.heads, kv = h / (a.heads / a.kv_heads);
    Pair pair{};
    if (j < i + 1 + a.shift) {
      double s = 0, dp = 0, dot = 0;
      float single_s = 0, single_dp = 0, single_dot = 0;
      for (int x = 0; x < a.d; ++x) {
        const float q = element(a, a.q, b, i, h, x), k = element(a, a.k, b, j, kv, x);
        const float v = element(a, a.v, b, j, kv, x), g = element(a, a.d_o, b, i, h, x);
        s += static_cast<double>(q) * k, single_s = fmaf(q, k, single_s);
        dp += static_cast<double>(g) * v, single_dp = fmaf(g, v, single_dp);
        dot += g * a.forward.o[row * a.d + x];
        single_dot = fmaf(g, a.forward.comparator[row * a.d + x], single_dot);
      }
      const double lse = a.forward.lse[row];
      pair.p = exp(s * a.scale - lse);
      pair.ds = pair.p * (dp - dot);
      pair.rounded_p =
          rounded(a, static_cast<float>(exp(single_s * static_cast<float>(a.scale) - lse)));
      pair.rounded_ds = rounded(a, pair.rounded_p * (single_dp - single_dot));
    }
    a.pairs[n] = pair;
  }
}

// A block a row of dQ.
__global__ void make_dq(const __grid_constant__ Arguments a) {
  const long long row = blockIdx.x, i = row % a.seq_q, bh = row / a.seq_q;
  const long long b = bh / a.heads, h = bh % a.heads, kv = h / (a.heads / a.kv_heads);
  const Pair* pairs = a.pairs + row * a.seq_k;
  for (int x = threadIdx.x; x < a.d; x += blockDim.x) {
    double sum = 0;
    float single = 0;
    for (long long j = 0; j < min(a.seq_k, i + 1 + a.shift); ++j) {
      const float k = element(a, a.k, b, j, kv, x);
      sum += pairs[j].ds * k;
      single = fmaf(pairs[j].rounded_ds, k, single);
    }
    a.out.dq[row * a.d + x] = sum * a.scale;
    a.out.comparator_dq[row * a.d + x] = rounded(a, single * static_cast<float>(a.scale));
  }
}

// A block a row of dK and dV.
__global__ void make_dk_dv(const __grid_constant__ Arguments a) {
  const long long row = blockIdx.x, j = row % a.seq_k, bh = row / a.seq_k;
  const long long b = bh / a.kv_heads, kv = bh % a.kv_heads, group = a.heads / a.kv_heads;
  for (int x = threadIdx.x; x < a.d; x += blockDim.x) {
    double dk = 0, dv = 0;
    float single_dk = 0, single_dv = 0;
    for (long long h = kv * group; h < (kv + 1) * group; ++h)
      for (long long i = max(0LL, j - a.shift); i < a.seq_q; ++i) {
        const Pair pair = a.pairs[((b * a.heads + h) * a.seq_q + i) * a.seq_k + j];
        const float q = element(a, a.q, b, i, h, x), g = element(a, a.d_o, b, i, h, x);
        dk += pair.ds * q, single_dk = fmaf(pair.rounded_ds, q, single_dk);
        dv += pair.p * g, single_dv = fmaf(pair.rounded_p, g, single_dv);
      }
    const long long at = row * a.d + x;
    a.out.dk[at] = dk * a.scale, a.out.dv[at] = dv;
    a.out.comparator_dk[at] = rounded(a, single_dk * static_cast<float>(a.scale));
    a.out.comparator_dv[at] = rounded(a, single_dv);
  }
}

}  // namespace

int64_t gradient_scratch_bytes(const FlashbenchProblem& p) {
  return p.batch * p.query_heads * p.seq_q * p.seq_k * static_cast<int64_t>(sizeof(Pair));
}

void reference_backward(const FlashbenchProblem& p, const FlashbenchBackward& inputs,
                        const ForwardReference& forward, const GradientReference& out,
                        void* scratch) {
  Arguments a{inputs.q,
              inputs.k,
              inputs.v,
              inputs.d_o,
              forward,
              out,
              static_cast<Pair*>(scratch),
              p.batch * p.query_heads * p.seq_q * p.seq_k,
              p.batch,
              p.seq_q,
              p.seq_k,
              p.query_heads,
              p.kv_heads,
              p.mask == FLASHBENCH_CAUSAL ? p.seq_k - p.seq_q : p.seq_k,
              static_cast<int>(p.head_dim),
              p.dtype == FLASHBENCH_FP16,
              p.scale};
  void* parameters[] = {&a};
  auto launch = [&](auto* kernel, long long blocks, unsigned threads) {
    if (blocks == 0) return;
    FLASHBENCH_CUDA(cudaLaunchKernel(reinterpret_cast<const void*>(kernel),
                                     dim3(static_cast<unsigned>(blocks)), dim3(threads), parameters,
                                     0, nullptr));
  };
  launch(&make_pairs, std::min((a.count + 127) / 128, 1LL << 20), 128);
  launch(&make_dq, p.batch * p.query_heads * p.seq_q, 64);
  launch(&make_dk_dv, p.batch * p.kv_heads * p.seq_k, 64);
}

}  // namespace flashbench::tests
