// Which implementations the words of --impl mean, given who is there.
#pragma once

#include <string>
#include <vector>

#include "plan/request.hpp"
#include "roster/roster.hpp"

namespace flashbench {

struct NamedImplementation {
  std::string name, source;
  Backend backend = Backend::cpu;
  std::vector<std::string> passes;  // "fwd", "bwd"
  bool is_spelt_out = false;        // by a pattern; all others only match it
};
// Globs take of the ladder what has the pass: each pass has rungs of its own. Whoever is spelt out
// is taken, and its row says that it cannot.
bool is_left_out(const NamedImplementation&, Pass);

// In the order of the sweep's patterns, without repeats; no pattern at all means the default of
// interface.md. Throws UsageError for a pattern that matches nothing.
std::vector<NamedImplementation> resolve_names(const Sweep&, const Roster&);

}  // namespace flashbench
