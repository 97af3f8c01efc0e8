// Options of `flashbench run` that do not go together.
#pragma once

#include "cli/run_words.hpp"

namespace flashbench {

// Throws UsageError naming two options of which one makes the other senseless.
void refuse_contradictions(const RunWords&);

}  // namespace flashbench
