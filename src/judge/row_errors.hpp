// The arithmetic of the gradients' least errors, which CPU and GPU share: docs/judging.md.
#pragma once

#include <cmath>

#ifdef __CUDACC__
#define FLASHBENCH_HOST_DEVICE __host__ __device__
#else
#define FLASHBENCH_HOST_DEVICE
#endif

namespace flashbench::judge {

// The larger one; NaN is never it, if `a` is not.
FLASHBENCH_HOST_DEVICE inline double larger(double a, double b) {
  return b > a ? b : a;
}

// Of one query row, what roundings cost there.
struct RowErrors {
  double dot;             // D
  double dot_units;       // its error in half units of the dtype
  double score_units;     // how many half units of the dtype P is off by, and dS
  double weight;          // the error of P, relative, that comes from S and the LSE in fp32
  double dot_of_weights;  // the error of D that comes from there, times what P may have become
};

// D is a sum of products with O, each rounded, and O one of products with P, each rounded too: D's
// error is like the root of the sum of their squares, which are `squares`. `score`: the size of the
// row's scores; `top`: its largest P. `rounded_scores`: of a computation that keeps S and dP in the
// dtype.
FLASHBENCH_HOST_DEVICE inline RowErrors row_errors(double dot, double squares, double score,
                                                   double top, bool rounded_scores) {
  constexpr double unit_of_fp32 = 0x1p-23;  // S and the LSE are each rounded by half of one
  RowErrors row{};
  row.dot = dot;
  row.dot_units = sqrt(squares);
  row.score_units = rounded_scores ? larger(1, score) : 1;
  row.weight = fmin(expm1(unit_of_fp32 * score), 1 / top);  // no P comes out above 1
  row.dot_of_weights = row.weight * (1 + row.weight) * (row.dot_units + fabs(dot));
  return row;
}

// The error of one dS but for that of D, in half units of the dtype.
FLASHBENCH_HOST_DEVICE inline double units_of_ds(const RowErrors& row, double p, double ds,
                                                 bool rounded_scores) {
  const double own = fabs(ds) * row.score_units;
  return rounded_scores ? larger(own, fabs(ds + p * row.dot)) : own;  // P dP
}

// The error of one dS that comes from scores in fp32.
FLASHBENCH_HOST_DEVICE inline double fp32_of_ds(const RowErrors& row, double p, double ds) {
  return fabs(ds) * row.weight + p * row.dot_of_weights;
}

}  // namespace flashbench::judge
