// One wrapper an instruction. The only asm of the mma.sync kernels.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <type_traits>

namespace flashbench::kernels {

#define FLASHBENCH_INLINE __device__ __forceinline__

inline constexpr unsigned every_lane = 0xffffffffu;

FLASHBENCH_INLINE std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

// The compiler forgets what it knows of x. (The step of v2 gets better registers inside a loop than
// without one, even where that loop has one turn.)
FLASHBENCH_INLINE void hide(int& x) {
  asm volatile("" : "+r"(x));
}

// 16 bytes from global to shared memory, past L1. Zeros are written where `present` is false, and
// nothing is read.
FLASHBENCH_INLINE void copy_async(std::uint32_t shared, const void* global) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared), "l"(global));
}
FLASHBENCH_INLINE void copy_async(std::uint32_t shared, const void* global, bool present) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(global),
               "r"(present ? 16 : 0));
}
FLASHBENCH_INLINE void commit_copies() {
  asm volatile("cp.async.commit_group;");
}
// Until at most `pending` groups of this thread's copies are under way.
template <int pending>
FLASHBENCH_INLINE void wait_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

// Four 8x8 matrices of 16-bit elements, one row address a lane; `transposed` for operands whose
// reduction runs along rows.
FLASHBENCH_INLINE void load_matrices(std::uint32_t (&r)[4], std::uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address));
}
FLASHBENCH_INLINE void load_matrices_transposed(std::uint32_t (&r)[4], std::uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address));
}

FLASHBENCH_INLINE void store_shared(std::uint32_t address, std::uint32_t value) {
  asm volatile("st.shared.b32 [%0], %1;" ::"r"(address), "r"(value) : "memory");
}
// Four 8x8 matrices of 16-bit elements into shared memory, one row address a lane: words 0 and 1 of
// the upper and the lower eight rows, 2 and 3 of the next eight columns.
FLASHBENCH_INLINE void store_matrices(std::uint32_t address, const std::uint32_t (&r)[4]) {
#if __CUDA_ARCH__ >= 900
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address),
               "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
               : "memory");
#else  // the rows' addresses lie in other lanes
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int lane = threadIdx.x & 31;
    store_shared(__shfl_sync(every_lane, address, i * 8 + lane / 4) + lane % 4 * 4, r[i]);
  }
#endif
}

// c += a b: (16, 16) times (16, 8).
template <class Element>
FLASHBENCH_INLINE void multiply_add(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                    std::uint32_t b1) {
  if constexpr (std::is_same_v<Element, __half>)
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  else
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

inline constexpr float log2_e = 1.4426950408889634f;
FLASHBENCH_INLINE float exp2_approximate(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
// The natural logarithm, within 2^-22 of itself, or of 1 between 1/2 and 2.
FLASHBENCH_INLINE float log_approximate(float x) {
  float y;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y * 0.6931471805599453f;
}
// Within one unit in the last place, where 1 / x branches for denormals.
FLASHBENCH_INLINE float reciprocal_approximate(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// Two floats rounded into one register, the first in the low half.
template <class Element>
FLASHBENCH_INLINE std::uint32_t pack(float low, float high) {
  std::uint32_t r;
  if constexpr (std::is_same_v<Element, __half>)
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
  else
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
  return r;
}

template <class Element>
FLASHBENCH_INLINE float2 unpack(std::uint32_t pair) {
  if constexpr (std::is_same_v<Element, __half>)
    return __half22float2(
        __halves2half2(__ushort_as_half(static_cast<unsigned short>(pair)),
                       __ushort_as_half(static_cast<unsigned short>(pair >> 16))));
  else  // the upper half of an fp32
    return make_float2(__uint_as_float(pair << 16), __uint_as_float(pair & 0xffff0000u));
}

FLASHBENCH_INLINE uint4 load_shared(std::uint32_t address) {
  uint4 r;
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w)
               : "r"(address)
               : "memory");
  return r;
}

// Nothing is written where `present` is false: a predicate, where `if` would be a branch.
FLASHBENCH_INLINE void store_global(void* address, const uint4& x, bool present) {
  asm volatile(
      "{.reg .pred p; setp.ne.b32 p, %5, 0; @p st.global.v4.b32 [%0], {%1, %2, %3, %4};}" ::"l"(
          address),
      "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w), "r"(static_cast<int>(present))
      : "memory");
}

FLASHBENCH_INLINE std::uint32_t load_shared_word(std::uint32_t address) {
  std::uint32_t r;
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(r) : "r"(address) : "memory");
  return r;
}

// A barrier among some warps of the block, counted in threads, which may come to it at different
// instructions: not the aligned form. (That one side need not wait gains nothing here, and
// compute-sanitizer's racecheck reports races behind bar.arrive that are none.)
FLASHBENCH_INLINE void arrive_and_wait(int barrier, int threads) {
  asm volatile("barrier.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

// A warp's 128 floats in global memory, four a lane, in an order that suits atomic additions: one
// instruction adds all four where there is such a one; else each of four adds 32 neighbours.
#if __CUDA_ARCH__ >= 900
FLASHBENCH_INLINE void add_atomically(float* floats, int lane, const float (&x)[4]) {
  asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(floats + lane * 4), "f"(x[0]),
               "f"(x[1]), "f"(x[2]), "f"(x[3])
               : "memory");
}
FLASHBENCH_INLINE float4 load_floats(const float* floats, int lane) {
  return reinterpret_cast<const float4*>(floats)[lane];
}
FLASHBENCH_INLINE void store_floats(float* floats, int lane, const float (&x)[4]) {
  reinterpret_cast<float4*>(floats)[lane] = make_float4(x[0], x[1], x[2], x[3]);
}
#else
FLASHBENCH_INLINE void add_atomically(float* floats, int lane, const float (&x)[4]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) atomicAdd(floats + i * 32 + lane, x[i]);
}
FLASHBENCH_INLINE float4 load_floats(const float* floats, int lane) {
  return make_float4(floats[lane], floats[32 + lane], floats[64 + lane], floats[96 + lane]);
}
FLASHBENCH_INLINE void store_floats(float* floats, int lane, const float (&x)[4]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) floats[i * 32 + lane] = x[i];
}
#endif

}  // namespace flashbench::kernels
