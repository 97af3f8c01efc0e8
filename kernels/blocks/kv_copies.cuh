// The K and V tiles of a block whose outer loop runs over Q, from the last one backwards: each is
// copied while the products of the one before run, either all of it after the first of them, or
// pass by pass. `to_k` and `to_v` are the stages' shared addresses.
#pragma once

#include "kernels/blocks/copy.cuh"

namespace flashbench::kernels {

template <class Element, Tile tile>
class KvCopies {
  static constexpr bool at_once = tile.copies == Copies::at_once;
  static constexpr int lanes = at_once ? tile.d / 8 : 4;  // that take a row together
  using Stream = TileStream<Element, tile, tile.bc, lanes>;

 public:
  FLASHBENCH_INLINE explicit KvCopies(const ForwardArguments& a)
      : k_(a.k_strides.seq, -1), v_(a.v_strides.seq, -1) {}

  // The last tile of a head, of which `present` rows exist.
  FLASHBENCH_INLINE void last(const Head<Element>& head, int tile_index, int present,
                              std::uint32_t to_k, std::uint32_t to_v) {
    k_.seek(head.k, tile_index), v_.seek(head.v, tile_index);
    k_.copy(to_k, present);  // (Bc, d)
    v_.copy(to_v, present);  // (Bc, d)
  }
  // This much of the one before it, after the products over columns 16 x to 16 x + 15: K with the
  // first half of them, V with the other. `advance` follows the last.
  FLASHBENCH_INLINE void next(int x, std::uint32_t to_k, std::uint32_t to_v) {
    if constexpr (at_once) {
      if (x == 0) k_.copy(to_k), v_.copy(to_v);
    } else {
      constexpr int a_pass = tile.d / 16 / (2 * Stream::passes), passes = Stream::passes;
      const int pass = x / a_pass;
      if (x % a_pass != 0) return;
      if (pass < passes)
        k_.copy_pass(to_k, pass);
      else
        v_.copy_pass(to_v, pass - passes);
    }
  }
  FLASHBENCH_INLINE void advance() {
    if constexpr (!at_once) k_.advance(), v_.advance();
  }

 private:
  Stream k_, v_;
};

}  // namespace flashbench::kernels
