// What nlohmann's parser lets pass, a key that stands twice in its object or whatever follows a
// zero byte, and what it says.
#pragma once

#include <exception>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace flashbench {

// "[json.exception.parse_error.101] parse error at line 2, column 13: ..." without its brackets.
std::string parser_sentence(const std::exception&);

// Of a text that holds a zero byte, which the parser takes for its end.
inline constexpr const char* zero_byte_sentence = "a zero byte stands in it";

// Follows a parser and knows at each moment where it stands.
class KeyWatch {
 public:
  // To be called with each event of the parser.
  void see(nlohmann::ordered_json::parse_event_t, const nlohmann::ordered_json& parsed);
  // Paths ("$.rows[1].status") of keys that stood in their object before, in order.
  const std::vector<std::string>& repeated() const { return repeated_; }
  // Of the value that the parser is reading.
  std::string path() const;

 private:
  struct Frame {
    bool array;
    std::size_t index;
    std::string key;
    std::set<std::string> keys;
  };
  void value_ended();

  std::vector<Frame> frames_;
  std::vector<std::string> repeated_;
};

}  // namespace flashbench
