// What the roundings that no computation of a gradient can do without cost it, whatever luck the
// comparator had with them: docs/judging.md. On the CPU; gradient_kernels.cuh has the same.
#pragma once

#include <vector>

#include "judge/backward.hpp"

namespace flashbench::judge {

// Of each row of a gradient, without the scale. They become an error in finished_gradient.
struct LeastErrors {
  // The largest product that one rounding to the dtype enters: times half a unit of the dtype.
  std::vector<double> terms;
  // What fp32 costs where scores are large.
  std::vector<double> scores;
};

class LeastErrorsOfGroup {
 public:
  // k: (Sk, d), which must outlive this.
  LeastErrorsOfGroup(const Problem&, const std::vector<double>& k, bool rounded_scores);
  LeastErrors dk, dv;  // over the slices so far
  // Adds a slice; returns those of its rows of dQ.
  LeastErrors add(const BackwardSlice<double>&);

 private:
  const Problem& problem_;
  const std::vector<double>& k_;
  std::vector<double> k_most_;  // the largest |element| of each key
  bool rounded_scores_;         // of the computation: S and dP lie in memory in the dtype
};

}  // namespace flashbench::judge
