// What became of the rows of two reports, pair by pair: the result of `flashbench compare`.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/row.hpp"

namespace flashbench {

// lost: the base report measured it, the new one could not. gained: the reverse. missing, added:
// only one report has the row at all.
enum class Change { faster, slower, same, unsure, lost, gained, missing, added, not_comparable };
template <>
struct Words<Change> {
  static constexpr std::array<std::string_view, 9> all{
      "FASTER", "SLOWER", "SAME", "UNSURE", "lost", "gained", "missing", "new", "not comparable"};
};

struct Pair {
  Row row;  // what names it, the new report's where it has the row: no figures
  Change change = Change::not_comparable;
  std::optional<double> base_ms, new_ms, base_tflops, new_tflops;
  std::optional<Ratio> time;     // new / base: below 1 is faster
  std::optional<double> tflops;  // new / base: above 1 is better
  double threshold = 0;
  std::string reason;   // short; of all but clear FASTER, SLOWER and SAME
  std::string details;  // what the rows themselves give as their reasons
};

struct Comparison {
  std::vector<Pair> pairs;  // in the new report's order, then what it lacks
  std::map<Change, std::size_t> counts;
  std::vector<std::string> differing;  // "device.name: NVIDIA H100 PCIe against NVIDIA H200"
  std::vector<std::string> warnings;
  std::vector<std::string> failures;  // why exit_code is 1, a sentence each
  bool allowed_different = false;     // differing, and compared all the same
  int exit_code = 0;

  std::size_t counted(Change change) const {
    const auto found = counts.find(change);
    return found == counts.end() ? 0 : found->second;
  }
};

// flashbench.comparison/1: strict JSON with 2-space indent, ending in a newline.
std::string comparison_text(const Comparison&);

}  // namespace flashbench
