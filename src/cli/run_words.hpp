// What the options of `flashbench run` said.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "plan/request.hpp"

namespace flashbench {

struct RunWords {
  UserRequest request;
  bool wide = false;
  std::string config;           // of --config
  std::set<std::string> given;  // names of the options that the user gave
};

// Parses, reads --config beneath the flags, refuses what contradicts itself. Throws UsageError.
RunWords read_run_words(const std::vector<std::string>& arguments);

}  // namespace flashbench
