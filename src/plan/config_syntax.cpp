#include "plan/config_syntax.hpp"

#include <fmt/format.h>

#include <set>

#include "plan/request.hpp"

namespace flashbench {

namespace {

using Json = nlohmann::ordered_json;

// Follows the parser and knows at each moment where it stands.
class KeyWatch {
 public:
  bool see(Json::parse_event_t event, const Json& parsed) {
    using Event = Json::parse_event_t;
    switch (event) {
      case Event::object_start:
      case Event::array_start:
        frames_.push_back({event == Event::array_start, 0, {}, {}});
        break;
      case Event::object_end:
      case Event::array_end:
        frames_.pop_back();
        value_ended();
        break;
      case Event::key:
        frames_.back().key = parsed.get<std::string>();
        if (!frames_.back().keys.insert(frames_.back().key).second) repeated.push_back(path());
        break;
      case Event::value:
        value_ended();
        break;
    }
    return true;
  }
  std::vector<std::string> repeated;

 private:
  struct Frame {
    bool array;
    std::size_t index;
    std::string key;
    std::set<std::string> keys;
  };
  void value_ended() {
    if (!frames_.empty() && frames_.back().array) ++frames_.back().index;
  }
  std::string path() const {
    std::string text = "$";
    for (const Frame& frame : frames_)
      text += frame.array ? fmt::format("[{}]", frame.index) : "." + frame.key;
    return text;
  }
  std::vector<Frame> frames_;
};

// "[json.exception.parse_error.101] parse error at line 2, column 13: ..." without its brackets.
std::string sentence_of(const std::exception& error) {
  const std::string text = error.what();
  const std::size_t end = text.find("] ");
  return end == text.npos ? text : text.substr(end + 2);
}

}  // namespace

ConfigText parse_config_text(const std::string& text, const std::string& file) {
  KeyWatch watch;
  try {
    Json json = Json::parse(
        text,
        [&watch](int, Json::parse_event_t event, Json& parsed) { return watch.see(event, parsed); },
        true, true);
    return {std::move(json), std::move(watch.repeated)};
  } catch (const Json::exception& error) {  // a number too large is none of the parse errors
    throw UsageError(fmt::format("{}: {}", file, sentence_of(error)));
  }
}

}  // namespace flashbench
