// Patterns: * for any letters, ? for one, [abc] for one of these.
#pragma once

#include <string>
#include <string_view>

namespace flashbench {

bool is_glob(std::string_view pattern);
// Whether `pattern` matches the whole of `text`; '/' is a letter like any other.
bool glob_matches(std::string_view pattern, std::string_view text);

// Whether `pattern` matches the whole of `path`, or as many of its '/'-separated components in a
// row as it has itself, each of them whole: "v1" matches "v1/fwd" and not "kv1/fwd". Slashes around
// the pattern say nothing.
bool glob_matches_components(std::string_view pattern, std::string_view path);

}  // namespace flashbench
