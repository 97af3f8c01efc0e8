// What dQ, dK and dV should be, a KV head at a time, and what the comparator makes of them.
#pragma once

#include <functional>
#include <vector>

#include "judge/least_error.hpp"
#include "judge/reference.hpp"

namespace flashbench::judge {

// The largest of a block's rows.
double least_error(const Gradient&, const Block&);

// The groups to compare: all, or, where the backward exceeds `limit` FLOPs, the first, the last and
// as many others, drawn by a hash of the seed, as come to about that cost.
std::vector<Group> groups_to_compare(const Problem&, std::uint64_t seed, double limit);
// The first query head of a group, and how many there are.
std::int64_t first_head(const Problem&, const Group&);
std::int64_t heads_of_group(const Problem&);
// Memory that one call of gradients needs, its result included.
std::int64_t gradients_footprint(const Problem&);
// Whether a group's Q, K, V and dO hold neither NaN nor infinity.
bool all_finite(const Inputs&, const Group&);
// Reference::gradients with OpenBLAS.
GroupGradients cpu_gradients(const Inputs&, const Group&, bool rounded_scores,
                             const std::function<void()>& finished);

// The sums that make a gradient, without the scale and not yet rounded.
struct GradientSums {
  std::vector<double> exact;
  std::vector<float> comparator;
  LeastErrors least;
};
Gradient finished_gradient(Dtype, double scale, GradientSums&&);

}  // namespace flashbench::judge
