// The keys and values of one head, as the forward reference and the comparator read them.
#pragma once

#include <vector>

#include "judge/inputs.hpp"

namespace flashbench::judge {

// Keys that query `row` sees: the first this many.
std::int64_t visible_keys(const Problem&, std::int64_t row);

// The first key whose element of V is NaN or infinite, in a column that has such.
struct Wild {
  std::int64_t key = 0, column = 0;
};

// Puts 0 where v, (Sk, d), is NaN or infinite, so that a masked key's 0 * NaN does not spread; rows
// that see such a key are patched (patch_wild).
std::vector<Wild> take_wild(std::vector<float>& v, std::int64_t d);

struct Keys {
  Keys(const Inputs&, std::int64_t batch, std::int64_t head);

  std::vector<float> k, v;                 // (Sk, d)
  std::vector<double> k_double, v_double;  // (Sk, d)
  std::vector<Wild> wild;
};

}  // namespace flashbench::judge
