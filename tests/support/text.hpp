// What tests ask of output: lines, CSV records, strict JSON.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace flashbench::test {

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// RFC 4180: quoted fields may hold commas, doubled quotes and line breaks.
inline std::vector<std::vector<std::string>> parse_csv(const std::string& text) {
  std::vector<std::vector<std::string>> records;
  std::vector<std::string> record;
  std::string field;
  bool quoted = false;
  const auto end_record = [&] {
    record.push_back(std::exchange(field, {}));
    records.push_back(std::exchange(record, {}));
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (quoted && text[i] == '"' && i + 1 < text.size() && text[i + 1] == '"')
      field += text[++i];
    else if (text[i] == '"')
      quoted = !quoted;
    else if (!quoted && text[i] == ',')
      record.push_back(std::exchange(field, {}));
    else if (!quoted && text[i] == '\n')
      end_record();
    else if (quoted || text[i] != '\r')
      field += text[i];
  }
  if (!field.empty() || !record.empty()) end_record();
  return records;
}

// Throws on NaN, Infinity, comments, and anything after the document.
inline nlohmann::json strict_json(const std::string& text) {
  return nlohmann::json::parse(text);
}

}  // namespace flashbench::test
