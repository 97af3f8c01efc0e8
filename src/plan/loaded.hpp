// --load: the shapes come from the files, which are read before the plan is made.
#pragma once

#include <string>

#include "plan/request.hpp"

namespace flashbench {

// q.npy, k.npy and v.npy in `dir`, do.npy where one of the sweeps has a backward, and case.json if
// there is one. Throws UsageError when a file is missing or is not what it should be.
LoadedFiles read_loaded(const std::string& dir, const std::vector<Sweep>&);
// The sweep with the shape axes of the files. Throws UsageError when they do not fit together, or
// the sweep asks for others.
Sweep with_loaded_shapes(Sweep, const LoadedFiles&);

}  // namespace flashbench
