#include "plan/glob.hpp"

#include <fnmatch.h>

namespace flashbench {

bool is_glob(std::string_view pattern) {
  return pattern.find_first_of("*?[") != pattern.npos;
}

bool glob_matches(std::string_view pattern, std::string_view text) {
  return fnmatch(std::string(pattern).c_str(), std::string(text).c_str(), 0) == 0;
}

}  // namespace flashbench
