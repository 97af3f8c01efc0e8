// Who works on a row of scores: the lanes of a warp, which need no barrier, on a row that they can
// hold in registers; all threads of a block on a longer one.
#pragma once

#include <algorithm>

#include "kernels/blocks/ptx.cuh"
#include "kernels/cuda/problem.hpp"

namespace flashbench::kernels {

template <class F>
FLASHBENCH_INLINE float warp_reduce(float x, F f) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) x = f(x, __shfl_xor_sync(every_lane, x, step));
  return x;
}

inline constexpr int held_vectors = 4;  // of eight elements, a lane

struct WarpRow {
  static constexpr bool holds = true;
  static constexpr int most_threads = 128, longest = 32 * 8 * held_vectors;

  FLASHBENCH_INLINE static int threads() { return 32; }
  FLASHBENCH_INLINE static int index() { return threadIdx.x % 32; }
  FLASHBENCH_INLINE static std::int64_t first() {
    return static_cast<std::int64_t>(blockIdx.x) * (most_threads / 32) + threadIdx.x / 32;
  }
  FLASHBENCH_INLINE static std::int64_t step() {
    return static_cast<std::int64_t>(gridDim.x) * (most_threads / 32);
  }
  FLASHBENCH_INLINE static void sync() { __syncwarp(); }
  template <class F>
  FLASHBENCH_INLINE static float reduce(float x, float, F f) {
    return warp_reduce(x, f);
  }
};

template <int MostThreads>
struct BlockRow {
  static constexpr bool holds = false;
  static constexpr int most_threads = MostThreads;

  FLASHBENCH_INLINE static int threads() { return blockDim.x; }
  FLASHBENCH_INLINE static int index() { return threadIdx.x; }
  FLASHBENCH_INLINE static std::int64_t first() { return blockIdx.x; }
  FLASHBENCH_INLINE static std::int64_t step() { return gridDim.x; }
  FLASHBENCH_INLINE static void sync() { __syncthreads(); }
  // `identity` stands for the warps that the block does not have.
  template <class F>
  FLASHBENCH_INLINE static float reduce(float x, float identity, F f) {
    __shared__ float warps[32];
    x = warp_reduce(x, f);
    sync();  // the last reduction's readers are done
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = x;
    sync();
    return warp_reduce(threadIdx.x % 32 < blockDim.x / 32 ? warps[threadIdx.x % 32] : identity, f);
  }
};

template <class Row>
FLASHBENCH_INLINE float row_max(float x) {
  return Row::reduce(x, -INFINITY, [](float a, float b) { return fmaxf(a, b); });
}
template <class Row>
FLASHBENCH_INLINE float row_sum(float x) {
  return Row::reduce(x, 0, [](float a, float b) { return a + b; });
}

// A kernel over rows, and how it is launched.
struct RowLaunch {
  const void* kernel;
  int threads;
  unsigned blocks;
};

inline RowLaunch warp_rows(const void* kernel, std::int64_t rows) {
  constexpr int rows_a_block = WarpRow::most_threads / 32;
  return {kernel, WarpRow::most_threads,
          static_cast<unsigned>(std::min(ceil_div(rows, rows_a_block), largest_grid))};
}
// vectors: of eight elements, that a thread is to have of a row, if that leaves a warp or more.
inline RowLaunch block_rows(const void* kernel, std::int64_t rows, std::int64_t row_elements,
                            int vectors, int most_threads) {
  const std::int64_t wanted = ceil_div(ceil_div(row_elements, 8 * vectors), 32) * 32;
  return {kernel, static_cast<int>(std::clamp<std::int64_t>(wanted, 32, most_threads)),
          static_cast<unsigned>(std::min(rows, largest_grid))};
}

}  // namespace flashbench::kernels
