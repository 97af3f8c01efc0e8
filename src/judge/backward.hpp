// The backward of one group on the CPU, a slice of query rows at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "record/problem.hpp"

namespace flashbench::judge {

// Some query rows of one head, and what was made of them. `keys`: those that the last row sees; P
// and dS are 0 where a row sees fewer.
template <class Real>
struct BackwardSlice {
  std::int64_t first = 0, rows = 0, keys = 0;
  std::vector<Real> q, d_o;  // (rows, d)
  std::vector<Real> p, ds;   // (rows, keys)
  std::vector<Real> o, dq;   // (rows, d); dq is a sum without the scale, not yet rounded
  std::vector<Real> dots;    // (rows), D = rowsum(dO * O)
  std::vector<Real>
      scores;  // (rows), the size of the largest score and of the LSE; 0 without a key
};

// In Real: fp64 is the reference, fp32 the comparator, which rounds P, O and dS to the dtype, and S
// and dP too if `rounded_scores`.
template <class Real>
class Backward {
 public:
  // k, v: (Sk, d), which must outlive this.
  Backward(const Problem&, const std::vector<Real>& k, const std::vector<Real>& v,
           bool rounded_scores);

  std::vector<Real> dk, dv;  // (Sk, d), sums over the slices so far, without the scale
  // Query rows from `first` on of one head, (rows, d).
  BackwardSlice<Real> add(const std::vector<float>& q, const std::vector<float>& d_o,
                          std::int64_t first);

 private:
  void softmax(BackwardSlice<Real>&) const;
  void differentiate(BackwardSlice<Real>&) const;

  const Problem& problem_;
  const std::vector<Real>&k_, &v_;
  Dtype stored_;  // of S and dP
};

extern template class Backward<double>;
extern template class Backward<float>;

}  // namespace flashbench::judge
