// The fixed sweeps that `flashbench claims` measures.
#pragma once

#include "plan/plan.hpp"

namespace flashbench {

// Times, memory and errors, on the roster's device; implementations that it lacks are left out.
UserRequest claims_on_device(const Roster&);
// Short fp32 problems whose rows count what they do, on the CPU.
UserRequest claims_by_counting();

}  // namespace flashbench
