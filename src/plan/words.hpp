// Sentences about mistyped words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace flashbench {

// The candidate that a typing error or two away from `word` would be; empty when none is that near.
// Upper and lower case are the same here; a swap of two letters is one error.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);
// "; did you mean "x"?", or nothing when no candidate is near. `before` stands in front of x.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates,
                         std::string_view before = "");
// "a, b, c"
std::string listed(const std::vector<std::string>& words);

}  // namespace flashbench
