// Shared by the files that convert records: reading and writing one value, and the records that
// rows and messages both hold. Absent and null read alike; a value of the wrong type is a
// ProtocolError that names its key.
#pragma once

#include <string>

#include "record/json.hpp"
#include "record/repeated_keys.hpp"

namespace flashbench::parts {

// Writing: what is missing or not finite becomes null.
Json number(double);
Json number(const std::optional<double>&);
Json integer(const std::optional<std::int64_t>&);
Json flag(const std::optional<bool>&);
Json text_or_null(const std::string&);

// Reading member `key` of an object.
const Json& member(const Json&, const char* key);  // null when absent
[[noreturn]] void wrong_type(const char* key, const char* expected, const Json& found);
std::optional<double> read_number(const Json&, const char* key);
double read_number_or(const Json&, const char* key, double otherwise);
std::optional<std::int64_t> read_integer(const Json&, const char* key);
std::int64_t read_integer_or(const Json&, const char* key, std::int64_t otherwise);
std::uint64_t read_unsigned(const Json&, const char* key);
std::optional<bool> read_flag(const Json&, const char* key);
std::string read_text(const Json&, const char* key, const char* otherwise = "");
std::vector<std::string> read_texts(const Json&, const char* key);
const Json& read_list(const Json&, const char* key);    // empty list when absent
const Json& read_object(const Json&, const char* key);  // empty object when absent

template <class Enum>
Enum read_word(const Json& json, const char* key, Enum otherwise) {
  const std::string word = read_text(json, key);
  if (word.empty()) return otherwise;
  if (const auto value = parse<Enum>(word)) return *value;
  std::string known;
  for (const auto& spelling : Words<Enum>::all) known.append(" ").append(spelling);
  throw ProtocolError("\"" + std::string(key) + "\": \"" + word + "\" is none of" + known);
}

// Parses strict JSON; errors say `what` it was and where it breaks. With a `watch` a key that
// stands twice in its object is an error too.
Json parse_text(const std::string& text, const std::string& what, KeyWatch* watch = nullptr);
// One line; bytes that are not UTF-8 are replaced, never thrown over.
std::string line_of(const Json&);

Json to_json(const Problem&);
Json to_json(const Time&);
Json to_json(const Traffic&);
Json to_json(const Cost&);
Json to_json(const Launch&);
Json to_json(const Counts&);
Json to_json(const TensorCheck&);
Problem problem_from_json(const Json&);
Time time_from_json(const Json&, double to_ms);
Traffic traffic_from_json(const Json&);
Cost cost_from_json(const Json&);
Launch launch_from_json(const Json&);
Counts counts_from_json(const Json&);
TensorCheck check_from_json(const Json&);

template <class Record>
Json list_of(const std::vector<Record>& records) {
  Json list = Json::array();
  for (const auto& record : records) list.push_back(to_json(record));
  return list;
}

}  // namespace flashbench::parts
