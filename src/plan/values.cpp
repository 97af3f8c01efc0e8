#include "plan/values.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

namespace flashbench {

namespace {

constexpr std::size_t most_values = 100000;  // of one range; more is a typing error
constexpr const char* digits_only = "0123456789";

std::int64_t unit_of(std::string_view text) {
  if (text.empty()) return 1;
  switch (text.back()) {
    case 'k':
    case 'K':
      return 1024;
    case 'm':
    case 'M':
      return 1048576;
    default:
      return 1;
  }
}

// "first:last:*factor" or "first:last:+step"; both ends belong to it.
std::vector<std::int64_t> parse_range(std::string_view text, std::int64_t least) {
  const std::size_t one = text.find(':'), two = text.find(':', one + 1);
  const std::string_view step = two == text.npos ? std::string_view{} : text.substr(two + 1);
  if (step.empty() || (step[0] != '*' && step[0] != '+'))
    throw UsageError(fmt::format(
        "\"{}\" is not a range: write first:last:*factor or first:last:+step, as in 512:16k:*2",
        text));
  const bool multiply = step[0] == '*';
  const auto part = [&](std::string_view digits, std::int64_t at_least) {
    try {
      return parse_integer(digits, at_least);
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("\"{}\": {}", text, error.what()));
    }
  };
  const std::int64_t first = part(text.substr(0, one), least);
  const std::int64_t last = part(text.substr(one + 1, two - one - 1), least);
  const std::int64_t by = part(step.substr(1), multiply ? 2 : 1);
  if (first > last) throw UsageError(fmt::format("\"{}\" ends before it begins", text));
  if (multiply && first == 0) throw UsageError(fmt::format("\"{}\" never leaves 0", text));
  std::vector<std::int64_t> values;
  for (std::int64_t value = first;;) {
    values.push_back(value);
    if (values.size() > most_values)
      throw UsageError(fmt::format("\"{}\" has more than {} values", text, most_values));
    if (multiply ? value > last / by : value > last - by) return values;
    value = multiply ? value * by : value + by;
  }
}

}  // namespace

std::int64_t parse_integer(std::string_view text, std::int64_t least) {
  const std::int64_t unit = unit_of(text);
  const std::string_view digits = unit == 1 ? text : text.substr(0, text.size() - 1);
  if (digits.empty() || digits.find_first_not_of(digits_only) != digits.npos)
    throw UsageError(
        fmt::format("\"{}\" is not a whole number of at least {} (k and m stand for x1024 and "
                    "x1048576)",
                    text, least));
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || value > std::numeric_limits<std::int64_t>::max() / unit)
    throw UsageError(fmt::format("\"{}\" is too large", text));
  if (value < least) throw UsageError(fmt::format("\"{}\" is less than {}", text, least));
  return value * unit;
}

std::vector<std::int64_t> parse_integers(std::string_view text, std::int64_t least) {
  std::vector<std::int64_t> values;
  for (const std::string& part : split_list(text)) {
    if (part.find(':') == part.npos) {
      values.push_back(parse_integer(part, least));
      continue;
    }
    const std::vector<std::int64_t> range = parse_range(part, least);
    values.insert(values.end(), range.begin(), range.end());
  }
  return values;
}

double parse_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size() ||
      !std::isfinite(value))
    throw UsageError(fmt::format("\"{}\" is not a finite number", text));
  return value;
}

double parse_positive(std::string_view text) {
  const double value = parse_number(text);
  if (value <= 0) throw UsageError(fmt::format("\"{}\" is not above 0", text));
  return value;
}

double parse_fraction(std::string_view text) {
  const bool percent = text.ends_with('%');
  const std::string_view digits = percent ? text.substr(0, text.size() - 1) : text;
  if (digits.empty() || digits.ends_with('%'))
    throw UsageError(fmt::format("\"{}\" is not a part of one: 5% and 0.05 are the same", text));
  const double value = percent ? parse_number(digits) / 100 : parse_number(digits);
  if (value < 0 || value >= 1)
    throw UsageError(fmt::format("\"{}\" is not a part of one: 5% and 0.05 are the same", text));
  return value;
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0;;) {
    const std::size_t comma = text.find(',', begin);
    parts.emplace_back(text.substr(begin, comma == text.npos ? text.npos : comma - begin));
    if (parts.back().empty()) throw UsageError(fmt::format("\"{}\" has an empty value", text));
    if (comma == text.npos) return parts;
    begin = comma + 1;
  }
}

}  // namespace flashbench
