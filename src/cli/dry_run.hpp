// --dry-run: the cases and what they would cost, without running any.
#pragma once

#include "cli/run_words.hpp"

namespace flashbench {

int dry_run(const RunWords&);

}  // namespace flashbench
