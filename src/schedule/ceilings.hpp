// Ceilings measured in this run: hidden turns beside the rows.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "record/row.hpp"
#include "roster/roster.hpp"

namespace flashbench {

// The worker died while it measured a ceiling: no row is to blame.
struct CeilingLost : WorkerLost {
  using WorkerLost::WorkerLost;
};

// Rates by ceiling, gathered over a whole run.
class CeilingTable {
 public:
  // One turn of `name` in that worker. A ceiling that the worker refuses, or dies of, is not asked
  // for again; the death is passed on as CeilingLost.
  void measure(WorkerLink&, const std::string& name, double for_ms);
  bool usable(const std::string& name) const { return !broken_.contains(name); }
  // The best rate of each: what this machine was seen to reach.
  std::vector<Ceiling> best() const;

 private:
  std::map<std::string, std::vector<double>> rates_;
  std::set<std::string> broken_;
};

// Each ceiling that the workers know, for about `ms_each`. One that cannot be measured is left out,
// as are those that an interruption leaves no time for.
std::vector<Ceiling> measure_ceilings(const Roster&, double ms_each);

}  // namespace flashbench
