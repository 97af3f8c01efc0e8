// Records to and from the public header's structs.
#pragma once

#include "flashbench/attention.h"
#include "record/row.hpp"

namespace flashbench {

std::uint32_t pass_bits(Pass);
// What an instance must be able to do to run a pass: a backward needs its own forward's statistics.
std::uint32_t instance_bits(Pass);
FlashbenchProblem to_c(const Problem&, std::uint32_t passes);
Cost from_c(const FlashbenchCost&);
Counts from_c(const FlashbenchCounts&);
std::vector<Launch> launches_of(const FlashbenchInstance&);

}  // namespace flashbench
