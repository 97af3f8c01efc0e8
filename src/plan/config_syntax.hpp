// Text to JSON, with what nlohmann's parser lets pass: a key given twice.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace flashbench {

struct ConfigText {
  nlohmann::ordered_json json;
  std::vector<std::string> repeated;  // JSON paths of keys that stand twice in their object
};
// Comments are allowed. Throws UsageError with line and column, or the path of a number that no
// double holds.
ConfigText parse_config_text(const std::string& text, const std::string& file);

}  // namespace flashbench
