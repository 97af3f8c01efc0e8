// The inputs of one set as the judge made them for itself, a head at a time.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "worker/answer.hpp"
#include "worker/bytes.hpp"
#include "worker/inputs.hpp"

namespace flashbench::judge {

class Inputs {
 public:
  Inputs(const Problem&, const InputSet&, Pass, const Tell&);

  static std::int64_t footprint(const Problem&, Pass);
  const Problem& problem() const { return problem_; }
  const std::string& checksum() const { return checksum_; }
  // Rows [first, first + count) of one head of q, k, v or d_o: (count, d).
  std::vector<float> rows(Tensor, std::int64_t batch, std::int64_t head, std::int64_t first,
                          std::int64_t count) const;
  // The lengths of the same rows; 0 where a row holds NaN or infinity.
  std::vector<double> row_lengths(Tensor, std::int64_t batch, std::int64_t head, std::int64_t first,
                                  std::int64_t count) const;
  // All of q, k, v or d_o in the problem's dtype: (b, h, s, d).
  std::span<const std::byte> elements(Tensor tensor) const {
    const Bytes& bytes = tensors_[static_cast<std::size_t>(tensor)];
    return {bytes.data(), bytes.size()};
  }
  // The KV head that a query head reads.
  std::int64_t kv_head(std::int64_t head) const {
    return head * problem_.kv_heads / problem_.heads;
  }
  // What |scale Q K^T| of no query and key exceeds; those that hold NaN or infinity are left out.
  // Exact to the lengths of Q's and K's rows where it is above `enough`, else it may be far above.
  double largest_score(double enough) const;
  // The largest finite |x| of a tensor.
  double largest(Tensor tensor) const { return largest_[static_cast<std::size_t>(tensor)]; }

 private:
  double longest_row(Tensor, std::int64_t batch, std::int64_t head) const;

  Problem problem_;               // in layout bhsd
  std::array<Bytes, 4> tensors_;  // q k v do, (b, h, s, d)
  std::array<double, 4> largest_{};
  std::string checksum_;
};

}  // namespace flashbench::judge
