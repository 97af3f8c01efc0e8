/* An example of a plugin in CUDA: attention in fp16 and bf16, a warp a query, key after key.
 *
 *   nvcc -O3 -arch=native -shared -Xcompiler -fPIC -I include -o attention-cuda.so \
 *     plugins/example/attention.cu
 *   flashbench --plugin attention-cuda.so --impl v2,example-cuda --seq 1k
 *
 * No tensor core works here, and K and V are read anew for every query: it is as slow as that.
 */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>

#include "flashbench/attention.h"

namespace {

constexpr int warp = 32, warps = 4, most_dim = 256, share = most_dim / warp;

__device__ float sum_of_warp(float x) {
  for (int lane = warp / 2; lane > 0; lane /= 2) x += __shfl_xor_sync(~0u, x, lane);
  return x;
}

template <typename T>
__device__ const T* row(const FlashbenchTensor& t, int64_t b, int64_t s, int64_t h) {
  return static_cast<const T*>(t.data) + b * t.batch + s * t.seq + h * t.head;
}

// Each lane holds every 32nd element of its warp's rows of Q and O; m and l are the same in all.
template <typename T>
__global__ void attend(FlashbenchProblem p, FlashbenchForward args) {
  const int lane = threadIdx.x % warp;
  const int64_t query = int64_t{blockIdx.x} * warps + threadIdx.x / warp;  // of B * Hq * Sq
  if (query >= p.batch * p.query_heads * p.seq_q) return;
  const int64_t i = query % p.seq_q, h = query / p.seq_q % p.query_heads;
  const int64_t b = query / p.seq_q / p.query_heads, kv = h * p.kv_heads / p.query_heads;
  const int64_t visible = p.mask == FLASHBENCH_FULL ? p.seq_k : i + 1 + p.seq_k - p.seq_q;
  float q[share] = {}, o[share] = {}, m = -INFINITY, l = 0;
  for (int x = 0; x * warp + lane < p.head_dim; ++x)
    q[x] = static_cast<float>(p.scale) * float(row<T>(args.q, b, i, h)[x * warp + lane]);
  for (int64_t j = 0; j < visible; ++j) {
    const T *k = row<T>(args.k, b, j, kv), *v = row<T>(args.v, b, j, kv);
    float s = 0;
    for (int x = 0; x * warp + lane < p.head_dim; ++x) s += q[x] * float(k[x * warp + lane]);
    s = sum_of_warp(s);
    const float grown = fmaxf(m, s), kept = expf(m - grown), weight = expf(s - grown);
    m = grown;
    l = kept * l + weight;
    for (int x = 0; x * warp + lane < p.head_dim; ++x)
      o[x] = kept * o[x] + weight * float(v[x * warp + lane]);
  }
  T* out = const_cast<T*>(row<T>(args.o, b, i, h));
  for (int x = 0; x * warp + lane < p.head_dim; ++x)
    out[x * warp + lane] = T(visible > 0 ? o[x] / l : 0.0f);
  if (lane == 0) args.lse[query] = visible > 0 ? m + logf(l) : -INFINITY;
}

FlashbenchStatus say(FlashbenchMessage* message, FlashbenchStatus status, const char* why) {
  std::snprintf(message->text, sizeof message->text, "%s", why);
  return status;
}

FlashbenchStatus supports(const FlashbenchProblem* p, const FlashbenchDevice* device,
                          FlashbenchMessage* message) {
  if (device->backend != FLASHBENCH_CUDA || p->dtype == FLASHBENCH_FP32 || p->head_dim > most_dim)
    return say(message, FLASHBENCH_UNSUPPORTED, "the example does 16 bit, d <= 256, on a GPU");
  return FLASHBENCH_OK;
}

// No ceiling is measured for products outside the tensor cores: without kernels there is no % of
// it.
FlashbenchStatus cost(const FlashbenchProblem*, const FlashbenchDevice*, uint32_t,
                      FlashbenchCost* cost, FlashbenchMessage*) {
  *cost = {};
  cost->saves = FLASHBENCH_SAVES_LSE;
  return FLASHBENCH_OK;
}

FlashbenchStatus create(const FlashbenchProblem* problem, const FlashbenchDevice*, void*,
                        FlashbenchInstance* instance, FlashbenchMessage*) {
  instance->state = new FlashbenchProblem(*problem);
  instance->launch_count = 0;
  return FLASHBENCH_OK;
}

FlashbenchStatus forward(void* state, const FlashbenchForward* args, void* stream,
                         FlashbenchMessage* message) {
  const auto& p = *static_cast<const FlashbenchProblem*>(state);
  const int64_t blocks = (p.batch * p.query_heads * p.seq_q + warps - 1) / warps;
  if (blocks == 0) return FLASHBENCH_OK;
  auto* kernel = p.dtype == FLASHBENCH_FP16 ? attend<__half> : attend<__nv_bfloat16>;
  kernel<<<blocks, warps * warp, 0, static_cast<cudaStream_t>(stream)>>>(p, *args);
  const cudaError_t error = cudaGetLastError();
  return error == cudaSuccess ? FLASHBENCH_OK
                              : say(message, FLASHBENCH_FAILED, cudaGetErrorString(error));
}

void destroy(void* state) {
  delete static_cast<FlashbenchProblem*>(state);
}

}  // namespace

const FlashbenchPlugin* flashbench_plugin() {
  static const FlashbenchImplementation implementation{
      "example-cuda",
      "a warp a query, as an example of a plugin in CUDA",
      "",
      FLASHBENCH_FORWARD,
      supports,
      cost,
      create,
      forward,
      nullptr,
      nullptr,
      nullptr,
      destroy};
  static const FlashbenchPlugin plugin{FLASHBENCH_ABI, FLASHBENCH_CUDA, 1, &implementation};
  return &plugin;
}
