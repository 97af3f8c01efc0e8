#include "report/text.hpp"

#include <algorithm>
#include <cstdint>

namespace flashbench {

namespace {

struct Span {
  std::uint32_t first, last;
};

// From Unicode's East Asian Width (W, F), in blocks.
constexpr Span wide[] = {
    {0x1100, 0x115f},   {0x231a, 0x231b},   {0x2329, 0x232a},   {0x23e9, 0x23ec},
    {0x25fd, 0x25fe},   {0x2614, 0x2615},   {0x2648, 0x2653},   {0x26a1, 0x26a1},
    {0x2705, 0x2705},   {0x274c, 0x274c},   {0x2753, 0x2755},   {0x2795, 0x2797},
    {0x2e80, 0x303e},   {0x3041, 0x33ff},   {0x3400, 0x4dbf},   {0x4e00, 0x9fff},
    {0xa000, 0xa4cf},   {0xa960, 0xa97f},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},
    {0xfe30, 0xfe6f},   {0xff00, 0xff60},   {0xffe0, 0xffe6},   {0x1f300, 0x1f64f},
    {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x1fa70, 0x1faff}, {0x20000, 0x3fffd}};
// Combining marks, joiners and variation selectors.
constexpr Span empty[] = {{0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x0610, 0x061a},
                          {0x064b, 0x065f}, {0x0e34, 0x0e3a}, {0x0e47, 0x0e4e}, {0x1ab0, 0x1aff},
                          {0x1dc0, 0x1dff}, {0x200b, 0x200f}, {0x20d0, 0x20ff}, {0x3099, 0x309a},
                          {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xfeff, 0xfeff}};

template <std::size_t N>
bool within(const Span (&spans)[N], std::uint32_t code) {
  return std::any_of(std::begin(spans), std::end(spans),
                     [code](const Span& span) { return span.first <= code && code <= span.last; });
}

// The code point at `at`, which moves past it; a byte that starts none counts as itself.
std::uint32_t next_code(std::string_view text, std::size_t& at) {
  const auto lead = static_cast<unsigned char>(text[at++]);
  const int more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0 ? 1 : 0;
  std::uint32_t code = more == 0 ? lead : lead & (0x3fu >> more);
  for (int i = 0; i < more; ++i) {
    if (at == text.size() || (static_cast<unsigned char>(text[at]) & 0xc0) != 0x80) return 0xfffd;
    code = code << 6 | (static_cast<unsigned char>(text[at++]) & 0x3f);
  }
  return code;
}

// How many bytes the character at `at` has; 0 where none begins. Neither surrogates nor a longer
// form than needed are characters.
std::size_t character_at(std::string_view text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || at + length > text.size()) return 0;
  std::uint32_t code = lead & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[at + i]);
    if ((byte & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte & 0x3f);
  }
  const std::uint32_t least = length == 4 ? 0x10000 : length == 3 ? 0x800 : 0x80;
  const bool surrogate = 0xd800 <= code && code <= 0xdfff;
  return code < least || code > 0x10ffff || surrogate ? 0 : length;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::uint32_t code = next_code(text, at);
    if (code < 0x20 || within(empty, code)) continue;
    width += within(wide, code) ? 2 : 1;
  }
  return width;
}

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = character_at(text, at);
    if (length == 0) return false;
    at += length;
  }
  return true;
}

std::string as_utf8(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = character_at(text, at);
    result += length > 0 ? text.substr(at, length) : std::string_view("\ufffd");
    at += std::max<std::size_t>(length, 1);
  }
  return result;
}

std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    line += byte < 0x20 || byte == 0x7f ? ' ' : c;
  }
  return line;
}

std::string wrapped(const std::string& line, std::size_t width) {
  constexpr std::string_view indent = "    ";
  std::string text, current;
  std::size_t columns = 0, space = std::string::npos;  // of current; where its last space is
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t length = std::max<std::size_t>(character_at(line, at), 1);
    const std::string character = line.substr(at, length);
    at += length;
    if (columns + display_width(character) > width) {
      const bool at_space = space != std::string::npos && space > indent.size();
      const std::string rest = at_space ? current.substr(space + 1) : "";
      text += current.substr(0, at_space ? space : current.size()) + "\n";
      current = std::string(indent) + rest;
      columns = display_width(current);
      space = std::string::npos;
    }
    if (character == " ") space = current.size();
    current += character;
    columns += display_width(character);
  }
  return text + current;
}

std::string pad(const std::string& text, std::size_t width, bool right) {
  const std::size_t own = display_width(text);
  const std::string space(width > own ? width - own : 0, ' ');
  return right ? space + text : text + space;
}

}  // namespace flashbench
