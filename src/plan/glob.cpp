#include "plan/glob.hpp"

#include <fnmatch.h>

#include <algorithm>

namespace flashbench {

bool is_glob(std::string_view pattern) {
  return pattern.find_first_of("*?[") != pattern.npos;
}

bool glob_matches(std::string_view pattern, std::string_view text) {
  return fnmatch(std::string(pattern).c_str(), std::string(text).c_str(), 0) == 0;
}

bool glob_matches_components(std::string_view pattern, std::string_view path) {
  if (glob_matches(pattern, path)) return true;
  constexpr const char* slash = "/";
  if (pattern.find_first_not_of(slash) == pattern.npos) return false;
  pattern.remove_prefix(pattern.find_first_not_of(slash));
  pattern.remove_suffix(pattern.size() - 1 - pattern.find_last_not_of(slash));
  const std::string wanted(pattern);
  const auto length = std::ranges::count(pattern, '/');
  for (std::size_t begin = 0; begin != path.npos;) {
    std::size_t end = path.find('/', begin);
    for (auto left = length; left > 0 && end != path.npos; --left) end = path.find('/', end + 1);
    const std::string part(path.substr(begin, end == path.npos ? end : end - begin));
    if (fnmatch(wanted.c_str(), part.c_str(), FNM_PATHNAME) == 0) return true;
    const std::size_t next = path.find('/', begin);
    begin = next == path.npos ? next : next + 1;
  }
  return false;
}

}  // namespace flashbench
