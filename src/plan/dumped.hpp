// --load of a folder that --dump wrote: its case.json says what the tensors' shapes do not.
#pragma once

#include <string>
#include <vector>

#include "plan/request.hpp"

namespace flashbench {

// `dir`/case.json; nothing where there is no such file. Throws UsageError where it cannot be read.
std::optional<CaseFacts> read_dumped(const std::string& dir);
// The sweep with dtype, mask, scale and layout of that file where the sweep names none; the same
// sweep where there was no such file. Adds a notice of what was taken that is no default, and one
// of what the sweep has otherwise. Shapes are settled before (with_loaded_shapes).
Sweep with_dumped_problem(Sweep, const LoadedFiles&, Backend, std::vector<std::string>& notices);

}  // namespace flashbench
