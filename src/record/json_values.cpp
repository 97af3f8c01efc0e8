#include <cmath>
#include <limits>

#include "record/json_parts.hpp"

namespace flashbench::parts {

Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json();
}

Json number(const std::optional<double>& value) {
  return value ? number(*value) : Json();
}

Json integer(const std::optional<std::int64_t>& value) {
  return value ? Json(*value) : Json();
}

Json flag(const std::optional<bool>& value) {
  return value ? Json(*value) : Json();
}

Json text_or_null(const std::string& text) {
  return text.empty() ? Json() : Json(text);
}

const Json& member(const Json& json, const char* key) {
  static const Json nothing;
  if (!json.is_object()) return nothing;
  const auto found = json.find(key);
  return found == json.end() ? nothing : *found;
}

void wrong_type(const char* key, const char* expected, const Json& found) {
  throw ProtocolError("\"" + std::string(key) + "\": expected " + expected + ", found " +
                      line_of(found).substr(0, 80));
}

std::optional<double> read_number(const Json& json, const char* key) {
  const Json& value = member(json, key);
  if (value.is_null()) return std::nullopt;
  if (!value.is_number()) wrong_type(key, "a number", value);
  const double result = value.get<double>();
  return std::isfinite(result) ? std::optional(result) : std::nullopt;
}

double read_number_or(const Json& json, const char* key, double otherwise) {
  return read_number(json, key).value_or(otherwise);
}

std::optional<std::int64_t> read_integer(const Json& json, const char* key) {
  const Json& value = member(json, key);
  if (value.is_null()) return std::nullopt;
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(most))
    wrong_type(key, "an integer of 63 bits", value);
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (!value.is_number()) wrong_type(key, "an integer", value);
  const double real = value.get<double>();
  if (std::trunc(real) != real || std::abs(real) > 9.0e15) wrong_type(key, "an integer", value);
  return static_cast<std::int64_t>(real);
}

std::int64_t read_integer_or(const Json& json, const char* key, std::int64_t otherwise) {
  return read_integer(json, key).value_or(otherwise);
}

std::uint64_t read_unsigned(const Json& json, const char* key) {
  const Json& value = member(json, key);
  if (value.is_null()) return 0;
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  const auto integer = read_integer(json, key);
  if (*integer < 0) wrong_type(key, "an integer that is not negative", value);
  return static_cast<std::uint64_t>(*integer);
}

std::optional<bool> read_flag(const Json& json, const char* key) {
  const Json& value = member(json, key);
  if (value.is_null()) return std::nullopt;
  if (!value.is_boolean()) wrong_type(key, "true or false", value);
  return value.get<bool>();
}

std::string read_text(const Json& json, const char* key, const char* otherwise) {
  const Json& value = member(json, key);
  if (value.is_null()) return otherwise;
  if (!value.is_string()) wrong_type(key, "a string", value);
  return value.get<std::string>();
}

std::vector<std::string> read_texts(const Json& json, const char* key) {
  std::vector<std::string> texts;
  for (const Json& value : read_list(json, key)) {
    if (!value.is_string()) wrong_type(key, "a list of strings", value);
    texts.push_back(value.get<std::string>());
  }
  return texts;
}

const Json& read_list(const Json& json, const char* key) {
  static const Json empty = Json::array();
  const Json& value = member(json, key);
  if (value.is_null()) return empty;
  if (!value.is_array()) wrong_type(key, "a list", value);
  return value;
}

const Json& read_object(const Json& json, const char* key) {
  static const Json empty = Json::object();
  const Json& value = member(json, key);
  if (value.is_null()) return empty;
  if (!value.is_object()) wrong_type(key, "an object", value);
  return value;
}

Json parse_text(const std::string& text, const std::string& what, KeyWatch* watch) {
  constexpr int deepest = 100;  // no document of ours comes near, and recursion has an end
  const auto see = [&what, watch](int depth, Json::parse_event_t event, const Json& parsed) {
    if (depth > deepest) throw ProtocolError(what + ": not one of ours: nested too deeply");
    if (watch) watch->see(event, parsed);
    if (watch && !watch->repeated().empty())
      throw ProtocolError(what + ": the key " + watch->repeated().front() +
                          " stands there twice; once would be right");
    return true;
  };
  if (text.find('\0') != std::string::npos)
    throw ProtocolError(what + ": not JSON: " + zero_byte_sentence);
  try {
    return Json::parse(text, see);
  } catch (const nlohmann::json::exception& error) {
    throw ProtocolError(what + ": not JSON: " + parser_sentence(error));
  }
}

std::string line_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace flashbench::parts
