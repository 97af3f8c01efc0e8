#include "plan/config_syntax.hpp"

#include <fmt/format.h>

#include "plan/request.hpp"
#include "record/repeated_keys.hpp"

namespace flashbench {

namespace {

using Json = nlohmann::ordered_json;

}  // namespace

ConfigText parse_config_text(const std::string& text, const std::string& file) {
  if (text.find('\0') != std::string::npos)
    throw UsageError(fmt::format("{}: {}", file, zero_byte_sentence));
  KeyWatch watch;
  try {
    Json json = Json::parse(
        text,
        [&watch](int, Json::parse_event_t event, Json& parsed) {
          watch.see(event, parsed);
          return true;
        },
        true, true);
    return {std::move(json), watch.repeated()};
  } catch (const Json::exception& error) {  // a number too large is none of the parse errors
    throw UsageError(fmt::format("{}: {}", file, parser_sentence(error)));
  }
}

}  // namespace flashbench
