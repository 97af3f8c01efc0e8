// The keys and values of one head, as the forward reference and the comparator read them.
#pragma once

#include <vector>

#include "judge/inputs.hpp"

namespace flashbench::judge {

// Keys that query `row` sees: the first this many.
std::int64_t visible_keys(const Problem&, std::int64_t row);

struct Keys {
  Keys(const Inputs&, std::int64_t batch, std::int64_t head);

  // The first key whose element of V is NaN or infinite, in a column that has such. They stand as 0
  // in v, so that a masked key's 0 * NaN does not spread; rows that see the key are patched.
  struct Wild {
    std::int64_t key = 0, column = 0;
  };
  std::vector<float> k, v;                 // (Sk, d)
  std::vector<double> k_double, v_double;  // (Sk, d)
  std::vector<Wild> wild;
};

}  // namespace flashbench::judge
