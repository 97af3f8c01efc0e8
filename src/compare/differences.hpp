// What stands between two reports before any pair is looked at.
#pragma once

#include <string>
#include <vector>

#include "record/row.hpp"

namespace flashbench {

// Fields that make figures not comparable: device model, backend, multiprocessors, method.
std::vector<std::string> differing_fields(const Report& base, const Report& now);
// Fields that differ and are worth a warning only: power limit, driver, timer, seed, ...
std::vector<std::string> lesser_differences(const Report& base, const Report& now);
// Worth a warning only: incomplete, no device recorded, the lesser differences.
std::vector<std::string> doubts(const Report& base, const Report& now);

}  // namespace flashbench
