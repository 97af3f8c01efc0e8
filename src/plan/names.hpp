// Which implementations the words of --impl mean, given who is there.
#pragma once

#include <string>
#include <vector>

#include "roster/roster.hpp"

namespace flashbench {

struct NamedImplementation {
  std::string name, source;
  Backend backend = Backend::cpu;
};

// In the order of `patterns`, without repeats; no pattern at all means the default of interface.md.
// Throws UsageError for a pattern that matches nothing.
std::vector<NamedImplementation> resolve_names(const std::vector<std::string>& patterns,
                                               const Roster&);

}  // namespace flashbench
