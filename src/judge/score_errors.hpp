// What scores may be off by because they are sums in fp32, which no kernel can do without.
#pragma once

#include <vector>

#include "judge/inputs.hpp"
#include "judge/reference.hpp"

namespace flashbench::judge {

// Of one head. A product q k is a sum of terms that may cancel: its roundings are of the size of
// |q| |k| and not of what remains. Why a unit of fp32 of that is enough: docs/judging.md.
class ScoreErrors {
 public:
  ScoreErrors(const Inputs&, std::int64_t batch, std::int64_t head);

  // One a row of a block of this head: 2^-23 |scale| |q| |k|, where k is the longest key that the
  // row sees; 0 if it sees none. Rows and keys with NaN or infinity count as 0.
  std::vector<double> of(const Block&) const;

 private:
  const Inputs& inputs_;
  std::vector<double> longest_;  // of keys 0 ... j
};

}  // namespace flashbench::judge
