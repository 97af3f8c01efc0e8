// What a file does not give. Records hold stand-ins there (a batch of 1, 0 FLOPs), which must never
// be written again as if somebody had recorded them.
#pragma once

#include <set>
#include <string>

#include "record/json.hpp"

namespace flashbench {

// Paths, as in "problem/batch", of the values that `written` has and `read` lacks. Lists are looked
// into only where they hold objects.
std::set<std::string> paths_not_in(const Json& read, const Json& written);
// Makes what stands at `paths` null.
void take_out(Json& written, const std::set<std::string>& paths);

// The same of a whole row or report (without its rows), knowing what follows from what: the key
// from the axes, sums from their parts, the kind of inputs from either place that names it.
std::set<std::string> unrecorded_of_row(const Json& read, const Json& written);
std::set<std::string> unrecorded_of_report(const Json& read, const Json& written);

}  // namespace flashbench
