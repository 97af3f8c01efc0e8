// --load: the shapes come from the files.
#pragma once

#include <string>

#include "plan/request.hpp"

namespace flashbench {

// The sweep with the shape axes that q.npy, k.npy, v.npy (and do.npy for a backward) in `dir` have.
// Throws UsageError when a file is missing, the shapes do not fit together, or the sweep asks for
// others.
Sweep with_loaded_shapes(Sweep, const std::string& dir);

}  // namespace flashbench
