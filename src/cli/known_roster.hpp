// The built-in implementations as known without asking a worker: for --dry-run and list on machines
// that lack the device, or the worker itself.
#pragma once

#include "roster/roster.hpp"

namespace flashbench {

Roster known_roster(Backend);
// call_roster, or what is known where the device cannot be used; `why` says so then.
Roster roster_or_known(const std::string& device, std::string* why);

}  // namespace flashbench
