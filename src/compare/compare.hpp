// Two reports, pair by pair: what became faster or slower, what cannot be told, what cannot be
// compared. Reads rows only; used by `flashbench compare`, --baseline and --against.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "estimate/estimate.hpp"
#include "record/row.hpp"

namespace flashbench {

enum class Change { faster, slower, same, unsure, missing, added, not_comparable };
template <>
struct Words<Change> {
  static constexpr std::array<std::string_view, 7> all{
      "FASTER", "SLOWER", "SAME", "UNSURE", "missing", "new", "not comparable"};
};

struct CompareOptions {
  double threshold = 0.05;                   // relative change of the time
  std::map<std::string, double> thresholds;  // of single rows, by key
  bool allow_different = false;              // compare across devices, inputs and methods
  bool strict = false;          // UNSURE and missing rows fail, oom and unsupported too
  bool across_sources = false;  // --against: built-in rows meet another build's rows
};

struct Pair {
  std::string key;  // the new report's where it has the row
  Change change = Change::not_comparable;
  std::optional<double> base_ms, new_ms, base_tflops, new_tflops;
  std::optional<Ratio> time;     // new / base: below 1 is faster
  bool has_interval = false;     // of time: both reports gave the intervals of their medians
  std::optional<double> tflops;  // new / base: above 1 is better
  double threshold = 0;
  std::string reason;  // of missing, new, not comparable, UNSURE, and of what was judged by medians
};

struct Comparison {
  std::vector<Pair> pairs;  // in the new report's order, then what it lacks
  std::map<Change, std::size_t> counts;
  std::vector<std::string> differing;  // "device.name: NVIDIA H100 PCIe against NVIDIA H200"
  std::vector<std::string> warnings;
  bool allowed_different = false;  // differing, and compared all the same
  int exit_code = 0;
};

// Median times are compared by the 95 % interval of their quotient: beyond the threshold and off 1
// is FASTER or SLOWER, wholly within it SAME, anything else UNSURE. A median that its report gives
// without an interval stands for both ends of one: between two of them the threshold alone decides.
// Pure.
Comparison compare(const Report& base, const Report& now, const CompareOptions&);
// Throws UsageError when a file cannot be read, is no report, or both are the same report.
Comparison compare_files(const std::string& base_file, const std::string& new_file,
                         const CompareOptions&);
// All but the warnings, which do not belong to the result.
std::string render_comparison(const Comparison&, bool color);

}  // namespace flashbench
