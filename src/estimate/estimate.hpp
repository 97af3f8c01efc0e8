// Figures from samples: medians and their intervals, speed-ups, utilisation. Pure.
#pragma once

#include <vector>

#include "record/row.hpp"

namespace flashbench {

// Median and its distribution-free 95 % interval from order statistics; n = 0 gives zeros, n < 6
// gives [min, max].
Time summarize(std::vector<Sample> samples);
// Half width of the interval over the median; infinity for n = 0 or 1.
double relative_half_width(const Time&);
// Median of the last tenth over the median of the first tenth, minus 1; 0 below 20 samples.
double drift(const std::vector<Sample>&);

// Fills what follows from a row's own time: tflops, utilization (peak may be null), drift flag
// ("drift" above 5 %).
void derive(Row&, const std::vector<Ceiling>&, const std::optional<double>& peak_tflops);
// speedup of every ok row over the first ok implementation of its problem_key and pass; failed rows
// never take part.
void add_speedups(std::vector<Row>&);

}  // namespace flashbench
