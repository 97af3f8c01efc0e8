// Plain text in columns that line up.
#pragma once

#include <string>
#include <vector>

namespace flashbench {

// The first line is the heading. `right` marks the columns of numbers; two spaces stand between.
std::string in_columns(const std::vector<std::vector<std::string>>& lines,
                       const std::vector<bool>& right = {});

}  // namespace flashbench
