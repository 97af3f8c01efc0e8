// Request and roster become cases. Pure: no GPU, no clock, no process.
#pragma once

#include <string>
#include <vector>

#include "plan/request.hpp"
#include "roster/roster.hpp"

namespace flashbench {

struct Plan {
  std::vector<Case> cases;           // in order, without repeats, after --filter
  std::size_t before_filter = 0;     // "0 of N cases matched"
  std::vector<std::string> notices;  // for stderr: what --load took from a case.json
};

// Whether the sweep is run on that backend; most are on either.
bool is_for(const Sweep&, Backend);

// Resolves every auto, expands globs against the roster's implementations. Throws UsageError for
// unknown implementations (with the nearest name), heads that kv_heads does not divide, sweeps none
// of which is for the roster's backend, and the like.
Plan make_plan(const UserRequest&, const Roster&);

}  // namespace flashbench
