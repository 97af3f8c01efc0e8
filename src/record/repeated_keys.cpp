#include "record/repeated_keys.hpp"

#include <fmt/format.h>

namespace flashbench {

std::string parser_sentence(const std::exception& error) {
  const std::string text = error.what();
  const std::size_t end = text.find("] ");
  return end == text.npos ? text : text.substr(end + 2);
}

void KeyWatch::see(nlohmann::ordered_json::parse_event_t event,
                   const nlohmann::ordered_json& parsed) {
  using Event = nlohmann::ordered_json::parse_event_t;
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
      if (!frames_.back().keys.insert(frames_.back().key).second) repeated_.push_back(path());
      break;
    case Event::value:
      value_ended();
      break;
  }
}

void KeyWatch::value_ended() {
  if (!frames_.empty() && frames_.back().array) ++frames_.back().index;
}

std::string KeyWatch::path() const {
  std::string text = "$";
  for (const Frame& frame : frames_)
    text += frame.array ? fmt::format("[{}]", frame.index) : "." + frame.key;
  return text;
}

}  // namespace flashbench
