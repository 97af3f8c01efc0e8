// What a backward kernel is launched with; shared by host and device.
#pragma once

#include <cstdint>

#include "kernels/blocks/tile.hpp"

namespace flashbench::kernels {

struct BackwardArguments {
  const void *q, *k, *v, *o, *d_o;  // (B, Sq, Hq, d) for q, o, d_o, (B, Sk, Hkv, d) for k, v
  void *dq, *dk, *dv;
  const float *lse, *m, *l;  // (B, Hq, Sq), as the forward saved them: either lse, or m and l
  float *row_lse, *dots;     // (B, Hq, q_tiles * Br): LSE * log2(e), +inf where P is zero; and D
  float* dq_sums;            // (B, Hq, q_tiles * Br, d), fragment by fragment; null: not added up
  Strides q_strides, k_strides, v_strides, o_strides, d_o_strides;
  Strides dq_strides, dk_strides, dv_strides;
  int seq_q, seq_k;
  int heads, kv_heads, heads_per_kv_head;
  int shift;              // row r sees the keys below r + 1 + shift
  int q_tiles, kv_tiles;  // of one head
  float scale;            // of S = scale * Q K^T, of either sign
  float scale_log2;       // scale * log2(e)
  float* row_inverse_l;  // beside row_lse where m and l are not merged: that is m * log2(e), this 1
                         // / l
};

}  // namespace flashbench::kernels
