// Patterns: * for any letters, ? for one, [abc] for one of these.
#pragma once

#include <string>
#include <string_view>

namespace flashbench {

bool is_glob(std::string_view pattern);
// Whether `pattern` matches the whole of `text`; '/' is a letter like any other.
bool glob_matches(std::string_view pattern, std::string_view text);

}  // namespace flashbench
