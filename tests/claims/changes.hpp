// One claim's finding, and changes to a report that speak for or against it.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "claims/claims.hpp"
#include "claims/confirming_report.hpp"

namespace flashbench::testing {

inline Finding finding(const Report& report, const std::string& name) {
  const auto found =
      std::ranges::find_if(claims(), [&](const Claim& claim) { return claim.name == name; });
  if (found == claims().end()) throw std::runtime_error("no claim is called " + name);
  return found->judge(report);
}

// Of the report that is to be changed.
using MutableRows = std::vector<Row*>;
inline MutableRows rows_of(Report& report, const std::string& impl, Pass pass = Pass::fwd,
                           Mask mask = Mask::full) {
  MutableRows rows;
  for (Row& row : report.rows)
    if (row.what.impl == impl && row.what.pass == pass && row.what.problem.mask == mask)
      rows.push_back(&row);
  return rows;
}

inline Row& counted_row(Report& report, const std::string& impl, Pass pass = Pass::fwd,
                        Mask mask = Mask::full) {
  for (Row* row : rows_of(report, impl, pass, mask))
    if (row->counts) return *row;
  throw std::runtime_error("no counts of " + impl);
}

inline void take(const MutableRows& rows, double times_as_long) {
  for (Row* row : rows) {
    if (!row->time) continue;
    row->time = time(row->time->median * times_as_long, row->time->median * 0.001);
    *row->tflops /= times_as_long;
    if (row->utilization.peak) *row->utilization.peak /= times_as_long;
  }
}

inline void fail(Row& row) {
  row.status = Status::failed;
  row.numerics.front().verdict = Verdict::fail;
}

inline void count_times(Report& report, const std::string& impl, const char* metric,
                        double factor) {
  for (Row* row : rows_of(report, impl))
    if (row->measured.contains(metric)) *row->measured[metric] *= factor;
}

inline void widen(const MutableRows& rows, double share) {
  for (Row* row : rows) row->time = time(row->time->median, share * row->time->median);
}

inline void take_intervals(Report& report) {
  for (Row& row : report.rows)
    if (row.time) row = without_interval(row);
}

}  // namespace flashbench::testing
