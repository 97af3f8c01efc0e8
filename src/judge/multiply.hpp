// Products of contiguous matrices by OpenBLAS, in fp64 or fp32.
#pragma once

#include <cblas.h>

#include <cstdint>

namespace flashbench::judge {

enum class Side { as_is, turned };

// c (m, n) = a b + add c, where a is (m, k), or (k, m) if turned, and b (k, n), or (n, k).
inline void multiply(Side a_side, Side b_side, std::int64_t m, std::int64_t n, std::int64_t k,
                     const double* a, const double* b, double add, double* c) {
  const auto rows = static_cast<int>(m), columns = static_cast<int>(n), depth = static_cast<int>(k);
  const bool a_turned = a_side == Side::turned, b_turned = b_side == Side::turned;
  cblas_dgemm(CblasRowMajor, a_turned ? CblasTrans : CblasNoTrans,
              b_turned ? CblasTrans : CblasNoTrans, rows, columns, depth, 1, a,
              a_turned ? rows : depth, b, b_turned ? depth : columns, add, c, columns);
}

inline void multiply(Side a_side, Side b_side, std::int64_t m, std::int64_t n, std::int64_t k,
                     const float* a, const float* b, float add, float* c) {
  const auto rows = static_cast<int>(m), columns = static_cast<int>(n), depth = static_cast<int>(k);
  const bool a_turned = a_side == Side::turned, b_turned = b_side == Side::turned;
  cblas_sgemm(CblasRowMajor, a_turned ? CblasTrans : CblasNoTrans,
              b_turned ? CblasTrans : CblasNoTrans, rows, columns, depth, 1, a,
              a_turned ? rows : depth, b, b_turned ? depth : columns, add, c, columns);
}

}  // namespace flashbench::judge
