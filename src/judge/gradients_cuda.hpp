// The gradients of a group on the GPU, in slices of query rows. It shares no code with anything
// under test.
#pragma once

#include <cstddef>
#include <cstdint>

#include "flashbench/attention.h"
#include "judge/row_errors.hpp"

namespace flashbench::judge {

// Query rows [first, first + rows) of a group: its heads' rows, one head after the other.
struct RowSlice {
  std::int64_t first = 0, rows = 0;
};

// Sums without the scale, not yet rounded, and what LeastErrors (least_error.hpp) says of each row.
// On the device.
struct DeviceSums {
  double* exact;
  float* comparator;
  double *terms, *scores;
};

// What slices of up to `rows` rows need on the device, all of it contiguous.
struct GradientMemory {
  DeviceSums dq;             // (rows, d), of the last slice
  DeviceSums dk, dv;         // (Sk, d), over all slices so far
  double* pairs;             // S, then P, and dP, then dS: (2, rows, Sk), in fp32 too
  double* o;                 // (rows, d), likewise
  double* p_k;               // (rows, d), P K
  double* score_sizes;       // (rows), of the largest score and of the LSE
  RowErrors* row_errors;     // (rows)
  float *q, *d_o;            // (rows, d)
  float *k, *v;              // (Sk, d)
  float *q_most, *d_o_most;  // (rows), the largest |element| of each
  float* k_most;             // (Sk), likewise
  std::int64_t bytes;        // of all these
};

// From `memory` on, which is 256-byte aligned; null asks for the size alone.
GradientMemory gradient_memory(const FlashbenchProblem& group, std::int64_t rows,
                               std::byte* memory);
// Rows of a slice whose memory, the keys' aside, stays below half a GiB.
std::int64_t gradient_slice_rows(const FlashbenchProblem& group);

// `group`: one batch and one KV head. Reads q, k, v and d_o of `inputs`, on the device in any
// strides; all finite. Slices are to be added in order: the first sets dk and dv, later ones add to
// them. The comparator is that of Reference::gradients. Enqueues on `stream`.
FlashbenchStatus add_gradients(const FlashbenchProblem& group, const FlashbenchBackward& inputs,
                               bool rounded_scores, const RowSlice&, const GradientMemory&,
                               void* stream, FlashbenchMessage*);

}  // namespace flashbench::judge
