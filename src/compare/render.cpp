#include <fmt/format.h>

#include "compare/compare.hpp"
#include "report/grid.hpp"
#include "report/text.hpp"

namespace flashbench {

namespace {

const char* color_of(Change change) {
  switch (change) {
    case Change::faster:
      return "\x1b[32m";
    case Change::slower:
      return "\x1b[31m";
    case Change::unsure:
    case Change::missing:
    case Change::not_comparable:
      return "\x1b[33m";
    case Change::same:
    case Change::added:
      return "";
  }
  return "";
}

// Signed percent of a quotient: +5.1 is 5.1 % more than before.
std::string percent_more(const std::optional<double>& quotient) {
  return quotient ? fmt::format("{:+.2f}", 100 * (*quotient - 1)) : "n/a";
}

std::string interval_of(const Pair& pair) {
  if (!pair.time || !pair.has_interval) return "n/a";
  return fmt::format("{:+.2f} to {:+.2f}", 100 * (pair.time->low - 1), 100 * (pair.time->high - 1));
}

template <class Value>
Column column(const char* heading, bool right, const Comparison& comparison, Value value) {
  Column result{heading, right, {}};
  for (const Pair& pair : comparison.pairs) result.cells.push_back(one_line(value(pair)));
  return result;
}

Column times(const char* heading, const Comparison& comparison,
             std::optional<double> Pair::*member) {
  std::vector<std::optional<double>> values;
  for (const Pair& pair : comparison.pairs) values.push_back(pair.*member);
  return figures(heading, values, 4);
}

std::vector<Column> columns_of(const Comparison& comparison) {
  return {column("row", false, comparison, [](const Pair& pair) { return pair.key; }),
          times("base ms", comparison, &Pair::base_ms),
          times("new ms", comparison, &Pair::new_ms),
          column("time %", true, comparison,
                 [](const Pair& pair) {
                   return percent_more(pair.time ? std::optional(pair.time->value) : std::nullopt);
                 }),
          column("95 % interval", true, comparison, interval_of),
          times("base TFLOPS", comparison, &Pair::base_tflops),
          times("new TFLOPS", comparison, &Pair::new_tflops),
          column("TFLOPS %", true, comparison,
                 [](const Pair& pair) { return percent_more(pair.tflops); }),
          column("verdict", false, comparison, [](const Pair& pair) {
            const std::string verdict(name(pair.change));
            return pair.reason.empty() ? verdict : verdict + ": " + pair.reason;
          })};
}

std::string table_of(const Comparison& comparison, bool color) {
  const std::vector<std::string> lines = aligned(columns_of(comparison));
  std::string text = lines.front() + "\n";
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const char* start = color ? color_of(comparison.pairs[i - 1].change) : "";
    text += start + lines[i] + (*start ? "\x1b[0m" : "") + "\n";
  }
  return text;
}

}  // namespace

std::string render_comparison(const Comparison& comparison, bool color) {
  std::string text;
  if (!comparison.differing.empty()) {
    text += comparison.allowed_different
                ? "*** DIFFERENT CONDITIONS, compared because --allow-different was given ***\n"
                : "not comparable (--allow-different compares all the same):\n";
    for (const std::string& field : comparison.differing) text += "  " + one_line(field) + "\n";
  }
  if (!text.empty()) text += "\n";
  text += table_of(comparison, color) + "\n";
  std::string counts;
  for (std::size_t i = 0; i < Words<Change>::all.size(); ++i) {
    const auto found = comparison.counts.find(static_cast<Change>(i));
    const std::size_t count = found == comparison.counts.end() ? 0 : found->second;
    counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", count, Words<Change>::all[i]);
  }
  return as_utf8(text + counts + "\n");
}

}  // namespace flashbench
