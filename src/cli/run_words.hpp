// The options of `flashbench run`: a table, and what they said.
#pragma once

#include <set>
#include <string>

#include "cli/parser.hpp"
#include "plan/request.hpp"

namespace flashbench {

struct RunWords {
  UserRequest request;
  bool wide = false;
  std::string config;           // of --config
  std::set<std::string> given;  // names of the options that the user gave
};

// The table; its options write into `words`, which must outlive it.
std::vector<Option> run_options(RunWords& words);
// Parses, reads --config beneath the flags, refuses what contradicts itself. Throws UsageError.
RunWords read_run_words(const std::vector<std::string>& arguments);

}  // namespace flashbench
