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
  constexpr int deepest = 100;  // no config comes near, and recursion has an end
  KeyWatch watch;
  try {
    Json json = Json::parse(
        text,
        [&](int depth, Json::parse_event_t event, Json& parsed) {
          if (depth > deepest) throw UsageError(fmt::format("{}: is nested too deeply", file));
          watch.see(event, parsed);
          return true;
        },
        true, true);
    return {std::move(json), watch.repeated()};
  } catch (const Json::out_of_range& error) {  // a number too large, which comes without a line
    throw UsageError(fmt::format("{}: {}: {}", file, watch.path(), parser_sentence(error)));
  } catch (const Json::exception& error) {
    throw UsageError(fmt::format("{}: {}", file, parser_sentence(error)));
  }
}

}  // namespace flashbench
