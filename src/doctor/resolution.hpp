// From the times of the same code, taken twice in each of several runs, to the smallest difference
// that is more than their scatter. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "record/diagnosis.hpp"

namespace flashbench {

// The two rows of one run, which took turns.
struct Twins {
  Row one, other;
};

// Of one row over all repeats; what is not ok is left out.
Resolution resolution_of(const std::string& name, const std::vector<Twins>& repeats);
// The smallest difference of two times that are not equal, in milliseconds; null where all are.
std::optional<double> smallest_step(std::vector<double> times_ms);
// Why the figures are no better than they are, and what may be done: a sentence a trouble.
std::vector<std::string> advice_on(const Diagnosis&);

}  // namespace flashbench
