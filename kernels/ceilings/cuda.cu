// What a GPU's units reach when nothing else stands in their way.
#include <memory>

#include "kernels/blocks/ptx.cuh"
#include "kernels/ceilings/ceilings.hpp"
#include "kernels/cuda/cublas.hpp"
#include "kernels/cuda/memory.hpp"

namespace flashbench::kernels {
namespace {

constexpr int mma_threads = 256, mma_rounds = 4096, mma_chains = 8;
constexpr int exp2_threads = 512, exp2_rounds = 4096, exp2_chains = 8;

// Independent chains of products, operands and accumulators in registers. The operands are random:
// a GPU draws less power on zeros and then clocks higher than on anything real.
__global__ void __launch_bounds__(mma_threads) mma_ceiling(float* out, unsigned seed) {
  std::uint32_t a[4], b[2];
  unsigned x = seed + threadIdx.x * 2654435761u;
  auto random = [&] {  // two bf16 numbers of size 1 to 2, signs at random
    x = x * 1664525u + 1013904223u;
    return (x & 0x807f807fu) | 0x3f803f80u;
  };
  for (auto& r : a) r = random();
  for (auto& r : b) r = random();
  float c[mma_chains][4] = {};
  for (int i = 0; i < mma_rounds; ++i)
#pragma unroll
    for (auto& chain : c) multiply_add<__nv_bfloat16>(chain, a, b[0], b[1]);
  float sum = 0;
  for (auto& chain : c) sum += chain[0] + chain[1] + chain[2] + chain[3];
  if (sum == 12345.678f) *out = sum;
}

__global__ void __launch_bounds__(exp2_threads) exp2_ceiling(float* out) {
  float x[exp2_chains];
  for (int i = 0; i < exp2_chains; ++i) x[i] = -1.0f / (threadIdx.x + i + 1);
  for (int i = 0; i < exp2_rounds; ++i)
#pragma unroll
    for (float& y : x) y = exp2_approximate(-y);  // stays between 0 and 1
  float sum = 0;
  for (float y : x) sum += y;
  if (sum == 12345.678f) *out = sum;
}

__global__ void random_bf16(__nv_bfloat16* data, std::int64_t n, unsigned seed) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += step) {
    unsigned x = (static_cast<unsigned>(i) ^ seed) * 2654435761u;
    x = (x ^ (x >> 15)) * 2246822519u;
    x ^= x >> 13;
    data[i] = __float2bfloat16(static_cast<float>(static_cast<int>(x)) * 8.0e-10f);
  }
}

struct Registers {
  DeviceMemory out{sizeof(float)};
  int blocks;
};

struct Copy {
  static constexpr std::size_t bytes = std::size_t{1} << 30;
  DeviceMemory from{bytes}, to{bytes};
};

struct Gemm {
  static constexpr std::int64_t n = 8192;
  DeviceMemory workspace{Cublas::workspace_bytes}, a{n * n * 2}, b{n * n * 2}, c{n * n * 2};
  Cublas cublas{workspace.as<void>()};
};

template <class State, class Body>
FlashbenchStatus make(const FlashbenchDevice* device, void** state, FlashbenchMessage* message,
                      Body body) {
  return guarded(message, [&] {
    FLASHBENCH_CUDA(cudaSetDevice(device->ordinal));
    auto made = std::make_unique<State>();
    body(*made);
    *state = made.release();
    return FLASHBENCH_OK;
  });
}

template <class State>
void destroy(void* state) {
  delete static_cast<State*>(state);
}

FlashbenchStatus create_mma(const FlashbenchDevice* device, void** state, double* work,
                            FlashbenchMessage* message) {
  return make<Registers>(device, state, message, [&](Registers& r) {
    r.blocks = device->multiprocessors * 2;
    *work = 2.0 * 16 * 8 * 16 * mma_chains * mma_rounds * (mma_threads / 32) * r.blocks;
  });
}

FlashbenchStatus create_exp2(const FlashbenchDevice* device, void** state, double* work,
                             FlashbenchMessage* message) {
  return make<Registers>(device, state, message, [&](Registers& r) {
    r.blocks = device->multiprocessors * 4;
    *work = static_cast<double>(exp2_chains) * exp2_rounds * exp2_threads * r.blocks;
  });
}

FlashbenchStatus create_copy(const FlashbenchDevice* device, void** state, double* work,
                             FlashbenchMessage* message) {
  return make<Copy>(device, state, message, [&](Copy& c) {
    FLASHBENCH_CUDA(cudaMemset(c.from.as<void>(), 0x5a, Copy::bytes));
    *work = 2.0 * static_cast<double>(Copy::bytes);
  });
}

FlashbenchStatus create_gemm(const FlashbenchDevice* device, void** state, double* work,
                             FlashbenchMessage* message) {
  return make<Gemm>(device, state, message, [&](Gemm& g) {
    random_bf16<<<4096, 256>>>(g.a.as<__nv_bfloat16>(), Gemm::n * Gemm::n, 1);
    FLASHBENCH_CUDA(cudaGetLastError());
    random_bf16<<<4096, 256>>>(g.b.as<__nv_bfloat16>(), Gemm::n * Gemm::n, 2);
    FLASHBENCH_CUDA(cudaGetLastError());
    FLASHBENCH_CUDA(cudaDeviceSynchronize());
    *work = 2.0 * Gemm::n * Gemm::n * Gemm::n;
  });
}

FlashbenchStatus run_mma(void* state, void* stream, FlashbenchMessage* message) {
  return guarded(message, [&] {
    auto& r = *static_cast<Registers*>(state);
    mma_ceiling<<<r.blocks, mma_threads, 0, static_cast<cudaStream_t>(stream)>>>(r.out.as<float>(),
                                                                                 1);
    FLASHBENCH_CUDA(cudaGetLastError());
    return FLASHBENCH_OK;
  });
}

FlashbenchStatus run_exp2(void* state, void* stream, FlashbenchMessage* message) {
  return guarded(message, [&] {
    auto& r = *static_cast<Registers*>(state);
    exp2_ceiling<<<r.blocks, exp2_threads, 0, static_cast<cudaStream_t>(stream)>>>(
        r.out.as<float>());
    FLASHBENCH_CUDA(cudaGetLastError());
    return FLASHBENCH_OK;
  });
}

FlashbenchStatus run_copy(void* state, void* stream, FlashbenchMessage* message) {
  return guarded(message, [&] {
    auto& c = *static_cast<Copy*>(state);
    FLASHBENCH_CUDA(cudaMemcpyAsync(c.to.as<void>(), c.from.as<void>(), Copy::bytes,
                                    cudaMemcpyDeviceToDevice, static_cast<cudaStream_t>(stream)));
    return FLASHBENCH_OK;
  });
}

FlashbenchStatus run_gemm(void* state, void* stream, FlashbenchMessage* message) {
  return guarded(message, [&] {
    auto& g = *static_cast<Gemm*>(state);
    g.cublas.set_stream(static_cast<cudaStream_t>(stream));
    auto matrix = [](const DeviceMemory& m) { return Matrices{m.as<void>(), Gemm::n, 0}; };
    g.cublas.multiply(FLASHBENCH_BF16,
                      Product{.m = Gemm::n, .n = Gemm::n, .k = Gemm::n, .transpose_b = true},
                      matrix(g.a), matrix(g.b), matrix(g.c), 1);
    return FLASHBENCH_OK;
  });
}

}  // namespace

std::span<const Ceiling> ceilings() {
  static const Ceiling all[] = {
      {"mma", create_mma, run_mma, destroy<Registers>},
      {"exp2", create_exp2, run_exp2, destroy<Registers>},
      {"copy", create_copy, run_copy, destroy<Copy>},
      {"gemm", create_gemm, run_gemm, destroy<Gemm>},
  };
  return all;
}

}  // namespace flashbench::kernels
