// What dQ, dK and dV should be, a KV head at a time, and what the comparator makes of them.
#pragma once

#include <functional>
#include <vector>

#include "judge/reference.hpp"

namespace flashbench::judge {

// A KV head of one batch and the query heads that read it.
struct Group {
  std::int64_t batch = 0, kv_head = 0;
};

// In fp64; the comparator's, rounded to the dtype, beside it.
struct Gradient {
  std::vector<double> exact;
  std::vector<float> comparator;
  // Half a unit of the dtype on the largest term of each row's sums: what rounding that one P or dS
  // may cost an honest computation, whatever luck the comparator had with it. (rows)
  std::vector<double> least_error;
  // Whether the group's inputs hold a NaN or infinity that a masked weight of 0 may carry to any
  // element of this tensor, though mathematically it does not reach it.
  bool spreads = false;
};

// The largest of a block's rows.
double least_error(const Gradient&, const Block&);

struct GroupGradients {
  std::vector<Gradient> dq;  // one a query head of the group, (Sq, d)
  Gradient dk, dv;           // (Sk, d)
};

// The groups to compare: all, or, where the backward exceeds `limit` FLOPs, the first, the last and
// as many others, drawn by a hash of the seed, as come to about that cost.
std::vector<Group> groups_to_compare(const Problem&, std::uint64_t seed, double limit);
// The first query head of a group, and how many there are.
std::int64_t first_head(const Problem&, const Group&);
std::int64_t heads_of_group(const Problem&);
// Memory that one call of gradients needs, its result included.
std::int64_t gradients_footprint(const Problem&);
// `rounded_scores`: the comparator rounds S and dP too, as where they lie in memory in the dtype.
// Calls `finished` after each slice of query rows. May be called on several threads at once.
GroupGradients gradients(const Inputs&, const Group&, bool rounded_scores,
                         const std::function<void()>& finished);

}  // namespace flashbench::judge
