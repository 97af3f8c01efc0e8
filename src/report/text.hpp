// Text as a terminal shows it.
#pragma once

#include <string>
#include <string_view>

namespace flashbench {

// Columns that a terminal gives the UTF-8 text: two for wide (CJK, emoji), none for combining
// marks.
std::size_t display_width(std::string_view text);
// One physical line: line breaks and other control characters become spaces.
std::string one_line(std::string_view text);
bool is_utf8(std::string_view text);
// The text with U+FFFD for each byte that belongs to no character of UTF-8.
std::string as_utf8(std::string_view text);
// No line of a table's notes is wider, in columns.
inline constexpr std::size_t text_width = 200;
// The line broken at its spaces, or within a longer word, into lines of at most `width` columns;
// all but the first are indented.
std::string wrapped(const std::string& line, std::size_t width);
std::string pad(const std::string& text, std::size_t width, bool right);

}  // namespace flashbench
