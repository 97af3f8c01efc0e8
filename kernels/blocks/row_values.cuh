// D of a Q tile's rows and what the forward saved of them, in shared memory by the barrier with
// which a step begins: fetched from where prepare_rows put them beforehand, or made at every visit.
//   prepare  beforehand, by a block of each Q tile
//   fetch    starts copying, together with the step's Q and dO
//   read     what is read of global memory, ahead of the products behind which it arrives
//   finish   into the step's stage, after them
#pragma once

#include "kernels/blocks/query_steps.cuh"
#include "kernels/blocks/row_dots.cuh"
#include "kernels/blocks/weights.cuh"

namespace flashbench::kernels {

// Kernel names Element, tile and rung.
template <class Kernel, Dots dots>
class RowValues;

template <class Kernel>
class RowValues<Kernel, Dots::once> {
  using Element = typename Kernel::Element;
  static constexpr Tile tile = Kernel::tile;
  using Saved = SavedRows<Kernel::rung.saved, tile.br>;
  static constexpr int lanes = tile.d / 8, at_once = tile.threads() / lanes;
  static_assert(tile.br % at_once == 0 && tile.br <= tile.threads());

 public:
  struct Read {};

  FLASHBENCH_INLINE RowValues(const BackwardArguments& a, const QuerySteps<tile>& steps)
      : args_(a), steps_(steps) {}

  FLASHBENCH_INLINE static void prepare(const BackwardArguments& a, const QueryTile& at) {
    const int first = at.tile * tile.br, chunk = threadIdx.x % lanes * 8;
    const auto* o = matrix_of<Element>(a.o, a.o_strides, at.batch, at.head) + chunk;
    const auto* d_o = matrix_of<Element>(a.d_o, a.d_o_strides, at.batch, at.head) + chunk;
    float* dots = a.dots + at.index * tile.br;
#pragma unroll
    for (int r = threadIdx.x / lanes, n = 0; n < tile.br / at_once; ++n, r += at_once) {
      uint4 x{}, y{};
      if (first + r < a.seq_q) {
        x = *reinterpret_cast<const uint4*>(d_o + (first + r) * a.d_o_strides.seq);
        y = *reinterpret_cast<const uint4*>(o + (first + r) * a.o_strides.seq);
      }
      const float dot = dot_do_o<Element, lanes>(x, y);
      if (threadIdx.x % lanes == 0) dots[r] = dot;
    }
    if (const int r = threadIdx.x; r < tile.br) {
      const std::int64_t row = at.index / a.q_tiles * a.seq_q + first + r;
      Saved::keep(a, at.index * tile.br + r, Saved::of(a, row, first + r < a.seq_q));
    }
  }

  template <class Shared>
  FLASHBENCH_INLINE void fetch(QueryStep step, int stage, Shared& shared) const {
    shared.saved[stage].fetch(args_, steps_.index(step));
    fetch_rows<tile.br>(shared.dots[stage], args_.dots, steps_.index(step), 1);
  }
  FLASHBENCH_INLINE Read read(QueryStep, int) const {
    return {};
  }
  template <class Shared>
  FLASHBENCH_INLINE void finish(const Read&, int, Shared&) const {}

 private:
  const BackwardArguments& args_;
  const QuerySteps<tile>& steps_;
};

template <class Kernel>
class RowValues<Kernel, Dots::each_visit> {
  using Element = typename Kernel::Element;
  static constexpr Tile tile = Kernel::tile;
  using Saved = SavedRows<Kernel::rung.saved, tile.br>;
  static constexpr int lanes = tile.d / 8, at_once = tile.threads() / lanes;
  static_assert(tile.br % at_once == 0 && tile.br <= tile.threads());

 public:
  struct Read {
    uint4 o[tile.br / at_once] = {};
    typename Saved::Value value = {};
  };

  FLASHBENCH_INLINE RowValues(const BackwardArguments& a, const QuerySteps<tile>& steps)
      : args_(a), steps_(steps) {}

  FLASHBENCH_INLINE static void prepare(const BackwardArguments&, const QueryTile&) {}

  template <class Shared>
  FLASHBENCH_INLINE void fetch(QueryStep, int, Shared&) const {}

  // n: of the step; past the last one nothing is read.
  FLASHBENCH_INLINE Read read(QueryStep step, int n) const {
    Read read{};
    if (n >= steps_.count) return read;
    const int first = step.tile * tile.br;
    const auto* o = matrix_of<Element>(args_.o, args_.o_strides, steps_.batch, step.head) +
                    threadIdx.x % lanes * 8;
#pragma unroll
    for (int i = 0; i < tile.br / at_once; ++i) {
      const int row = first + threadIdx.x / lanes + i * at_once;
      if (row < args_.seq_q)
        read.o[i] = *reinterpret_cast<const uint4*>(o + row * args_.o_strides.seq);
    }
    if (const int r = threadIdx.x; r < tile.br)
      read.value = Saved::of(args_, steps_.row(step) + r, first + r < args_.seq_q);
    return read;
  }

  // Of dO a thread reads what it has copied itself, and so waits for no other.
  template <class Shared>
  FLASHBENCH_INLINE void finish(const Read& read, int n, Shared& shared) const {
    if (n >= steps_.count) return;
    const int stage = n % tile.stages, chunk = threadIdx.x % lanes;
    wait_copies<0>();
#pragma unroll
    for (int i = 0; i < tile.br / at_once; ++i) {
      const int r = threadIdx.x / lanes + i * at_once;
      const uint4 d_o = load_shared(shared_address(shared.d_o[stage]) + swizzled<tile>(r, chunk));
      const float dot = dot_do_o<Element, lanes>(d_o, read.o[i]);
      if (chunk == 0) shared.dots[stage][r] = dot;
    }
    if (const int r = threadIdx.x; r < tile.br) shared.saved[stage].put(r, read.value);
  }

 private:
  const BackwardArguments& args_;
  const QuerySteps<tile>& steps_;
};

}  // namespace flashbench::kernels
