// The fixed sweeps that `flashbench claims` measures.
#pragma once

#include "plan/plan.hpp"

namespace flashbench {

// Times, memory and errors, on the roster's device; implementations that it lacks are left out. Of
// each row for that many seconds; without a budget for a quarter of one, on the CPU eight times.
UserRequest claims_on_device(const Roster&, std::optional<double> time_budget_s);
// Long sequences at one head and at as many as the device can work on at once, eight times each,
// and on a GPU with its hardware counters.
UserRequest claims_at_few_heads(const Roster&);
// Short fp32 problems whose rows count what they do, on the CPU.
UserRequest claims_by_counting();

}  // namespace flashbench
