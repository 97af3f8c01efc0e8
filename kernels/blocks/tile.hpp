// What a forward kernel is built for and what it is launched with; shared by host and device.
#pragma once

#include <cstdint>

#include "kernels/blocks/divider.hpp"

namespace flashbench::kernels {

// Where the exponents of P = exp(scale * (S - m)) are raised: all before the product with V, or
// each right before it is used there, so that exponentials and tensor cores overlap within a warp.
enum class Raise { in_softmax, in_product };
enum class Copies { at_once, pass_by_pass };

struct Tile {
  int d;       // head dimension
  int br;      // rows of Q a tile
  int bc;      // rows of K and V a tile
  int warps;   // a block
  int stages;  // tiles of the streamed operand in flight
  int blocks;  // a multiprocessor, by registers
  Raise raise = Raise::in_softmax;
  Copies copies = Copies::at_once;  // between the products of Q K^T, where Q is the outer loop
  int exchanges = 2;  // buffers through which warps that divide the keys merge their products
  constexpr int threads() const { return 32 * warps; }
};

// Strides in elements; 64-bit because B*S*H*d may pass 2^31.
struct Strides {
  std::int64_t batch, seq, head;
};

// How heads share the blocks: some take turns together, of which the first have a head more.
struct Turn {
  Divider heads, tiles;  // Q tiles of all its heads
};
struct Turns {
  std::uint32_t longer_heads, longer_tiles;  // all those of the turns with a head more
  Turn longer, shorter;
};

struct ForwardArguments {
  const void *q, *k, *v;                     // (B, Sq, Hq, d), (B, Sk, Hkv, d) twice
  void* o;                                   // (B, Sq, Hq, d)
  float *lse, *m, *l;                        // (B, Hq, Sq), each may be null
  float *running_o, *running_m, *running_l;  // (B, Hq, Sq, d), (B, Hq, Sq) twice: K/V-outer only
  Strides q_strides, k_strides, v_strides, o_strides;
  int seq_q, seq_k;
  Divider heads, heads_per_kv_head;  // Hq, Hq / Hkv
  int batch_heads;                   // B * Hq
  int shift;                         // row r sees the keys below r + 1 + shift
  int q_tiles;                       // of one head
  Turns turns;                       // where blocks divide the Q tiles
  float scale;                       // of S = sign * Q K^T; always positive
  float scale_log2;                  // scale * log2(e)
  float sign;                        // 1, or -1 or 0 where the problem's scale is
};

}  // namespace flashbench::kernels
