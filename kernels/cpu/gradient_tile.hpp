// The tiles of a backward: one core's buffers for a tile of K/V and the tiles of Q that meet it,
// and the five products and the elementwise step between them.
#pragma once

#include "kernels/cpu/tile.hpp"

namespace flashbench::kernels::cpu {

struct QueryHead {  // index = b * Hq + h
  int64_t index;
  Plane q, o, d_o, dq;
};
struct KvHead {  // read by the query heads [first_query, end_query)
  int64_t first_query, end_query;
  Plane k, v, dk, dv;
};
QueryHead query_head_of(const FlashbenchProblem&, const FlashbenchBackward&, int64_t index);
KvHead kv_head_of(const FlashbenchProblem&, const FlashbenchBackward&, int64_t index);

float log_sum_exp(float m, float l);  // m + log l; -inf for a row that sees no key

// Where dQ adds up: dQ itself in fp32, else `accumulator`, (B, Hq, Sq, d) in fp32. A sum rounded to
// 16 bits in every step would be lost.
Plane dq_sum_of(const FlashbenchProblem&, const QueryHead&, float* accumulator);
int64_t dq_accumulator_size(const FlashbenchProblem&);  // elements; 0 where dQ itself is fp32

struct alignas(128) GradientBlock : TileBuffers {
  GradientBlock(const FlashbenchProblem&, TileShape, Arena&);

  void start(int64_t cols);                                  // dK = dV = 0
  void row_dots(View d_o, View o, int64_t rows);             // D = rowsum(dO * O)
  void scores(View q, View k, int64_t rows, int64_t cols);   // S = scale * Q K^T
  void probabilities(int64_t rows, int64_t cols);            // S becomes e^(S - m)
  void divide(int64_t rows, int64_t cols);                   // P = P / l, a division an element
  void d_probabilities(View d_o, View v, int64_t, int64_t);  // dP = dO V^T
  void softmax_gradient(int64_t rows, int64_t cols);         // dP becomes dS = P * (dP - D)
  void add_to_keys(View q, View d_o, int64_t, int64_t);      // dV += P^T dO, dK += scale dS^T Q
  void d_queries(View k, float keep, int64_t rows, int64_t cols);  // dQ = keep dQ + scale dS K
  void clear_unseeing(const Visible&, Rows i);  // dQ = 0 where a row sees no key, NaN or not

  void add_to(const Plane& sum, Rows);  // adds dQ to the fp32 sum in memory
  void clear(const Plane& sum, Rows);   // the sum in memory = 0

  TileShape shape;
  float *q, *d_o, *o;  // (Br, d)
  float *k, *v;        // (Bc, d)
  float *p, *ds;       // (Br, Bc): S, then P; dP, then dS
  float* dq;           // (Br, d)
  float *dk, *dv;      // (Bc, d)
  float *m, *l, *D;    // (Br); m is L where one statistic is all
};

}  // namespace flashbench::kernels::cpu
