// What the outputs should be, a 64-row block or a KV head's gradients at a time. An implementation
// of Reference may use any hardware, never 16 bits and never an implementation under test.
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
  // The largest error of the same-dtype unfused computation (interface.md, Check) in this block,
  // over all its draws (comparator.hpp).
  double comparator_error = 0;
  // The same where the comparator rounds S too; found when first needed (comparator.hpp).
  std::optional<double> rounded_scores_error;
  // Elements of o, sorted, that need not be finite though the reference is: there the comparator
  // itself overflows, or the column of V holds a NaN or infinity at a key that the row does not
  // see.
  std::vector<std::int64_t> excused;
};

// A KV head of one batch and the query heads that read it.
struct Group {
  std::int64_t batch = 0, kv_head = 0;
};

// In fp64; the comparator's, rounded to the dtype, beside it.
struct Gradient {
  std::vector<double> exact;
  std::vector<float> comparator;
  // What the roundings that an honest computation must make cost it, whatever luck the comparator
  // had with them. (rows)
  std::vector<double> least_error;
  // Whether the group's inputs hold a NaN or infinity that a masked weight of 0 may carry to any
  // element of this tensor, though mathematically it does not reach it.
  bool spreads = false;
};

struct GroupGradients {
  std::vector<Gradient> dq;  // one a query head of the group, (Sq, d)
  Gradient dk, dv;           // (Sk, d)
};

class Reference {
 public:
  virtual ~Reference() = default;
  // Forgets the inputs it was given.
  virtual void drop() {}
  // Memory that one call of forward needs.
  virtual std::int64_t footprint(const Problem&) const = 0;
  // The blocks are of one batch and head. May be called on several threads at once.
  virtual std::vector<BlockReference> forward(const Inputs&, std::span<const Block>) const = 0;
  // Finds rounded_scores_error of blocks that forward gave.
  virtual void round_scores(const Inputs&, std::span<const Block>,
                            std::span<BlockReference>) const = 0;
  // `rounded_scores`: the comparator rounds S and dP too, as where they lie in memory in the dtype.
  // Calls `finished` after each slice of query rows. Takes up to gradients_footprint
  // (gradients.hpp) of memory. May be called on several threads at once.
  virtual GroupGradients gradients(const Inputs&, const Group&, bool rounded_scores,
                                   const std::function<void()>& finished) const = 0;
};

// fp64, OpenBLAS's dgemm.
std::unique_ptr<Reference> cpu_reference();

}  // namespace flashbench::judge
