// What the outputs should be, a 64-row block at a time. An implementation of Reference may use any
// hardware, never 16 bits and never an implementation under test.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "judge/inputs.hpp"

namespace flashbench::judge {

inline constexpr std::int64_t block_rows = 64;

// Query rows [first, first + rows) of one head.
struct Block {
  std::int64_t batch = 0, head = 0, first = 0, rows = 0;
};

struct BlockReference {
  std::vector<double> o;    // (rows, d)
  std::vector<double> lse;  // -inf where a row sees no key
  std::vector<double> top;  // the row's largest score; -inf likewise
  // The largest error of the same-dtype unfused computation (interface.md, Check) in this block.
  double comparator_error = 0;
  // The same where the comparator rounds S too; found when first needed (comparator.hpp).
  std::optional<double> rounded_scores_error;
  // Elements of o, sorted, that need not be finite though the reference is: there the comparator
  // itself overflows, or the column of V holds a NaN or infinity at a key that the row does not
  // see.
  std::vector<std::int64_t> excused;
};

class Reference {
 public:
  virtual ~Reference() = default;
  // Memory that one call of forward needs.
  virtual std::int64_t footprint(const Problem&) const = 0;
  // The blocks are of one batch and head. May be called on several threads at once.
  virtual std::vector<BlockReference> forward(const Inputs&, std::span<const Block>) const = 0;
  // Further draws of the comparator, of blocks that forward gave: they raise comparator_error, or,
  // with rounded_scores, find rounded_scores_error (comparator.hpp).
  virtual void draw(const Inputs&, std::span<const Block>, std::span<BlockReference>,
                    bool rounded_scores) const = 0;
};

// fp64, OpenBLAS's dgemm.
std::unique_ptr<Reference> cpu_reference();

}  // namespace flashbench::judge
