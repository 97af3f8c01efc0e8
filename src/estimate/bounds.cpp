#include "estimate/bounds.hpp"

#include "estimate/estimate.hpp"

namespace flashbench {

Bounds bounds(const Time& time) {
  if (has_interval(time)) return {*time.low, *time.high};
  return {time.min > 0 ? time.min / 2 : 0, Bounds{}.high};
}

Bounds quotient_bounds(const Time& over, const Time& under) {
  if (const auto interval = ratio(over, under); interval && interval->has_interval)
    return {interval->low, interval->high};
  const Bounds above = bounds(over), below = bounds(under);
  Bounds quotient{above.low / below.high, above.high / below.low};
  if (!(quotient.low > 0)) quotient.low = 0;  // nothing over nothing is nothing known
  if (!(quotient.high > 0)) quotient.high = Bounds{}.high;
  return quotient;
}

}  // namespace flashbench
