// Products of matrices in fp64 or fp32: a block of 256 threads makes a tile of 64 x 64, a thread 16
// elements of it, from chunks of 16 that lie in shared memory.
#pragma once

namespace flashbench::judge::detail {

inline constexpr int tile = 64, chunk = 16, side = 16, each = tile / side;
inline constexpr int product_threads = side * side;

// The left side of a product by its rows, or the right side by its columns: `count` vectors along
// the index that is summed over. One of the steps is 1.
template <class T>
struct Operand {
  const T* data;
  long long count, vector_step, element_step;
};

template <class Real>
struct ProductMemory {
  Real left[chunk][tile + 1], right[chunk][tile + 1];
};

// What a thread holds of a tile: rows y, y + side, ... and columns x, x + side, ...
template <class Real>
struct TileSums {
  Real at[each][each] = {};
};

// Elements [k, k + chunk) of vectors [first, first + tile); 0 behind the last of either.
template <class Real, class T>
__device__ void load(Real (&to)[chunk][tile + 1], const Operand<T>& from, long long first,
                     long long k, long long end) {
  for (int n = threadIdx.x; n < chunk * tile; n += product_threads) {
    // neighbouring threads read neighbours in memory
    const int vector = from.vector_step == 1 ? n % tile : n / chunk;
    const int element = from.vector_step == 1 ? n / tile : n % chunk;
    const long long i = first + vector, j = k + element;
    to[element][vector] =
        i < from.count && j < end
            ? static_cast<Real>(from.data[i * from.vector_step + j * from.element_step])
            : Real{0};
  }
}

// Adds the part of the product that is summed over [begin, end).
template <class Real, class Left, class Right>
__device__ void add_product(TileSums<Real>& sums, ProductMemory<Real>& memory,
                            const Operand<Left>& left, long long first_row,
                            const Operand<Right>& right, long long first_column, long long begin,
                            long long end) {
  const int y = threadIdx.x / side, x = threadIdx.x % side;
  TileSums<Real> part;
  for (long long k = begin; k < end; k += chunk) {
    __syncthreads();
    load(memory.left, left, first_row, k, end);
    load(memory.right, right, first_column, k, end);
    __syncthreads();
#pragma unroll
    for (int t = 0; t < chunk; ++t) {
      Real a[each], b[each];
#pragma unroll
      for (int i = 0; i < each; ++i) {
        a[i] = memory.left[t][y + i * side];
        b[i] = memory.right[t][x + i * side];
      }
#pragma unroll
      for (int i = 0; i < each; ++i)
#pragma unroll
        for (int j = 0; j < each; ++j) part.at[i][j] = fma(a[i], b[j], part.at[i][j]);
    }
  }
#pragma unroll
  for (int i = 0; i < each; ++i)
#pragma unroll
    for (int j = 0; j < each; ++j) sums.at[i][j] += part.at[i][j];
}

// Calls use(row, column, element) for each element of the thread's that is in the matrix.
template <class Real, class Use>
__device__ void for_elements(const TileSums<Real>& sums, long long first_row, long long rows,
                             long long first_column, long long columns, Use use) {
  const int y = threadIdx.x / side, x = threadIdx.x % side;
#pragma unroll
  for (int i = 0; i < each; ++i)
#pragma unroll
    for (int j = 0; j < each; ++j) {
      const long long row = first_row + y + i * side, column = first_column + x + j * side;
      if (row < rows && column < columns) use(row, column, sums.at[i][j]);
    }
}

}  // namespace flashbench::judge::detail
