// Samples, in the order in which they were taken, to a median, its interval and a drift. Pure.
#pragma once

#include <optional>
#include <vector>

#include "record/row.hpp"

namespace flashbench {

// The least number of samples that can show a drift: ten at each end, and as many between them.
inline constexpr std::size_t least_for_drift = 40;

// Median and its interval from order statistics, wider where samples that follow each other are
// alike; n = 0 gives zeros, n < least_for_interval no interval.
Time summarize(std::vector<Sample> samples);
// Half width of the interval over the median; infinity where there is no interval.
double relative_half_width(const Time&);
// Median of the last tenth of the samples over that of the first, minus 1; a tenth is ten samples
// at least. Null below least_for_drift samples.
std::optional<double> drift(const std::vector<Sample>&);
// Whether it is more than 5 %, and more than chance would give one row of a thousand.
bool drifts(const std::vector<Sample>&);

}  // namespace flashbench
