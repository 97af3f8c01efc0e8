// Two reports, pair by pair: what became faster or slower, what cannot be told, what cannot be
// compared. Reads rows only; used by `flashbench compare`, --baseline and --against.
#pragma once

#include <map>
#include <string>

#include "record/comparison.hpp"

namespace flashbench {

struct CompareOptions {
  double threshold = 0.05;                   // relative change of the time
  std::map<std::string, double> thresholds;  // of single rows, by key
  bool allow_different = false;              // compare across devices, inputs and methods
  bool strict = false;          // fails unless every row of both reports is FASTER, SLOWER or SAME
  bool across_sources = false;  // --against: built-in rows meet another build's rows
};

// Median times are compared by the 95 % interval of their quotient: beyond the threshold and off 1
// is FASTER or SLOWER, wholly within it SAME, anything else UNSURE. A median without an interval
// (of fewer than six samples, or given so) stands for both ends of one: between two of them the
// threshold alone decides; a single sample is UNSURE. Pure.
Comparison compare(const Report& base, const Report& now, const CompareOptions&);
// Throws UsageError when a file cannot be read, is no report, or both are the same report.
Comparison compare_files(const std::string& base_file, const std::string& new_file,
                         const CompareOptions&);
// All but the warnings, which do not belong to the result. `wide`: with the full keys.
std::string render_comparison(const Comparison&, bool color, bool wide = false);

}  // namespace flashbench
