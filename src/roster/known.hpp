// The built-in implementations where the device cannot be used: for --dry-run and list.
#pragma once

#include "roster/roster.hpp"

namespace flashbench {

// Of the worker itself where it is built and can plan without a device (hello.stand_in); else what
// is known without asking anybody, without costs.
Roster known_roster(const DeviceError&, Backend);
// call_roster, or known_roster where the device cannot be used; `why` says so then.
Roster roster_or_known(const std::string& device, double timeout_s, std::string* why);

}  // namespace flashbench
