// Between what lies a time, or a quotient of two? The one rule by which times are told apart, also
// those of too few samples for a 95 % interval. Pure.
#pragma once

#include <limits>

#include "record/row.hpp"

namespace flashbench {

struct Bounds {
  double low = 0, high = std::numeric_limits<double>::infinity();  // 0 and infinity: not known
};

// The 95 % interval of the median; of a time without one no less than half its shortest sample,
// and no upper end: so it lies above another's interval only where each of its samples took more
// than twice as long.
Bounds bounds(const Time&);
// Of the quotient of two medians: the interval of ratio() where both times have one.
Bounds quotient_bounds(const Time& over, const Time& under);

}  // namespace flashbench
