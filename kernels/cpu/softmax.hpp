// The two online softmaxes of the document's section 3.2, on one tile.
#pragma once

#include "kernels/cpu/tile.hpp"

namespace flashbench::kernels::cpu {

// V2: O stays unnormalised, each row belongs to one warp, one division at the end.
struct DelayedSoftmax {
  static void start(Block&, int64_t rows);               // O = 0, m = -inf, l = 0
  static void step(Block&, int64_t rows, int64_t cols);  // S becomes P; m, l; O where m grew
  static void finish(Block&, int64_t rows);              // O = O / l; l becomes the logsumexp
};

// V1: O is normalised in every step, the warps hold keys and merge their maxima, sums and outputs.
struct NormalizedSoftmax {
  static void start(Block&, int64_t rows);  // m = -inf, l = 0; O is not read before it is written
  // S becomes P; m and l become the new ones, correction the weight of the old O: l e^(m - m_new)
  static void step(Block&, int64_t rows, int64_t cols);
  // O = correction * O / l + (sum of the partial outputs) / l; in the first step there is no old O
  static void merge_outputs(Block&, int64_t rows, int64_t cols, bool first);
};

}  // namespace flashbench::kernels::cpu
