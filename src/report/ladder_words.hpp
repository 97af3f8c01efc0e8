// What a walk from V1 to V2 shows, in words made from its figures.
#pragma once

#include <string>
#include <vector>

#include "estimate/ladder.hpp"

namespace flashbench {

// Sentences, a line each. device: the name, or empty.
std::vector<std::string> words_of(const LadderRows&, const std::vector<Row>&,
                                  const std::string& device);

}  // namespace flashbench
