// --load of a folder that --dump wrote: its case.json says what the tensors' shapes do not.
#pragma once

#include <string>
#include <vector>

#include "plan/request.hpp"

namespace flashbench {

// The sweep with dtype, mask, scale and layout of `dir`/case.json where the sweep names none; the
// same sweep where there is no such file. Adds a notice of what was taken that is no default, and
// one of what the sweep has otherwise. Shapes are settled before (with_loaded_shapes). Throws
// UsageError where the file cannot be read.
Sweep with_dumped_problem(Sweep, const std::string& dir, Backend,
                          std::vector<std::string>& notices);

}  // namespace flashbench
