#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

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
    case Change::lost:
      return "\x1b[31m";
    case Change::unsure:
    case Change::missing:
    case Change::not_comparable:
      return "\x1b[33m";
    case Change::same:
    case Change::gained:
    case Change::added:
      return "";
  }
  return "";
}

// Signed percent of a quotient: +5.1 is 5.1 % more than before. Beyond a hundred thousand % only
// the magnitude tells anything.
std::string percent_more(double quotient) {
  const double percent = 100 * (quotient - 1);
  if (!std::isfinite(percent)) return fmt::format("x{:.2g}", quotient);
  return std::abs(percent) < 1e5 ? fmt::format("{:+.2f}", percent)
                                 : fmt::format("{:+.2g}", percent);
}

std::string interval_of(const Pair& pair) {
  if (!pair.time || !pair.time->has_interval) return missing;
  return percent_more(pair.time->low) + " to " + percent_more(pair.time->high);
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

// The rows of the pairs as a report, for what the tables of reports know of rows.
Report rows_of(const Comparison& comparison) {
  Report report;
  for (const Pair& pair : comparison.pairs) report.rows.push_back(pair.row);
  return report;
}

// One part of a shape, "h16" or nothing a row, as wide as the widest. `follows`: the axis whose
// value it has unless it is said.
std::vector<std::string> shape_part(const Report& report, const char* letter, const char* axis_name,
                                    const char* follows) {
  std::vector<std::string> cells;
  std::size_t width = 0;
  for (const Row& row : report.rows) {
    const std::string value = value_of(axis_called(axis_name), row);
    const bool implied = follows && value == value_of(axis_called(follows), row);
    cells.push_back(value.empty() || implied ? "" : letter + value);
    width = std::max(width, cells.back().size());
  }
  for (std::string& cell : cells) cell = pad(cell, width, false) + (width > 0 ? " " : "");
  return cells;
}

// "b4 h16 s4096 d128"; kv and k only where they are others than h and s.
Column shape_of(const Report& report) {
  Column shape{"shape", false, std::vector<std::string>(report.rows.size())};
  for (const auto& [letter, axis, follows] :
       std::vector<std::array<const char*, 3>>{{"b", "batch", nullptr},
                                               {"h", "heads", nullptr},
                                               {"kv", "kv-heads", "heads"},
                                               {"s", "seq", nullptr},
                                               {"k", "seq-k", "seq"},
                                               {"d", "head-dim", nullptr}}) {
    const std::vector<std::string> part = shape_part(report, letter, axis, follows);
    for (std::size_t i = 0; i < part.size(); ++i) shape.cells[i] += part[i];
  }
  for (std::string& cell : shape.cells) {
    cell.erase(cell.find_last_not_of(' ') + 1);
    cell = or_missing(cell);
  }
  return shape;
}

// What tells the rows apart: implementation, shape, and the axes in which they differ.
std::vector<Column> names_of(const Report& report) {
  static const std::set<std::string> in_shape{"batch", "heads", "kv-heads",
                                              "seq",   "seq-k", "head-dim"};
  std::vector<Column> names;
  for (const Axis& axis : axes()) {
    const bool is_name = axis.name == "impl";
    const bool differs = !is_constant(axis, report) && !is_implied(axis, report);
    if (in_shape.contains(axis.name) || !(is_name || differs)) continue;
    Column column{axis.heading, axis.number, {}};
    for (const Row& row : report.rows) column.cells.push_back(or_missing(cell_of(axis, row)));
    names.push_back(std::move(column));
    if (is_name) names.push_back(shape_of(report));
  }
  return names;
}

// The cells that name the row, each space once.
std::string name_of(const std::vector<Column>& names, std::size_t row) {
  std::string words;
  for (const Column& column : names)
    if (column.cells[row] != missing) words += (words.empty() ? "" : " ") + column.cells[row];
  const auto both_spaces = [](char one, char other) { return one == ' ' && other == ' '; };
  words.erase(std::ranges::unique(words, both_spaces).begin(), words.end());
  return words;
}

bool are_distinct(const std::vector<Column>& names, std::size_t rows) {
  std::set<std::string> distinct;
  for (std::size_t i = 0; i < rows; ++i) distinct.insert(name_of(names, i));
  return distinct.size() == rows;
}

std::vector<Column> figures_of(const Comparison& comparison) {
  return {
      times("base ms", comparison, &Pair::base_ms),
      times("new ms", comparison, &Pair::new_ms),
      column("time %", true, comparison,
             [](const Pair& pair) { return pair.time ? percent_more(pair.time->value) : missing; }),
      column("95 % interval", true, comparison, interval_of),
      times("base TFLOPS", comparison, &Pair::base_tflops),
      times("new TFLOPS", comparison, &Pair::new_tflops),
      column("TFLOPS %", true, comparison,
             [](const Pair& pair) { return pair.tflops ? percent_more(*pair.tflops) : missing; }),
      column("verdict", false, comparison, [](const Pair& pair) {
        const std::string verdict(name(pair.change));
        return pair.reason.empty() ? verdict : verdict + ": " + pair.reason;
      })};
}

std::string table_of(const Comparison& comparison, const std::vector<Column>& columns, bool color) {
  const std::vector<std::string> lines = aligned(columns);
  std::string text = lines.front() + "\n";
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const char* start = color ? color_of(comparison.pairs[i - 1].change) : "";
    text += start + lines[i] + (*start ? "\x1b[0m" : "") + "\n";
  }
  return text;
}

// What rows give as their reasons, once each.
std::string notes_of(const Comparison& comparison, const std::vector<Column>& names) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<std::size_t>> rows;
  for (std::size_t i = 0; i < comparison.pairs.size(); ++i) {
    const std::string& details = comparison.pairs[i].details;
    if (details.empty()) continue;
    if (!rows.contains(details)) order.push_back(details);
    rows[details].push_back(i);
  }
  std::string text;
  for (const std::string& details : order) {
    std::string who = name_of(names, rows[details].front());
    if (const std::size_t others = rows[details].size() - 1; others > 0)
      who += fmt::format(" and {} more", others);
    text += wrapped(one_line(who + ": " + details), text_width) + "\n";
  }
  return text.empty() ? text : text + "\n";
}

std::string conditions_of(const Comparison& comparison) {
  if (comparison.differing.empty()) return {};
  std::string text =
      comparison.allowed_different
          ? "*** DIFFERENT CONDITIONS, compared because --allow-different was given ***\n"
          : "not comparable (--allow-different compares all the same):\n";
  for (const std::string& field : comparison.differing)
    text += wrapped("  " + one_line(field), text_width) + "\n";
  return text + "\n";
}

std::string counts_of(const Comparison& comparison) {
  std::string counts;
  for (std::size_t i = 0; i < Words<Change>::all.size(); ++i)
    counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ",
                          comparison.counted(static_cast<Change>(i)), Words<Change>::all[i]);
  return counts + "\n";
}

}  // namespace

std::string render_comparison(const Comparison& comparison, bool color, bool wide) {
  const Report report = rows_of(comparison);
  const std::vector<Column> names = names_of(report);
  std::vector<Column> columns = names;
  std::ranges::move(figures_of(comparison), std::back_inserter(columns));
  if (wide || !are_distinct(names, report.rows.size())) {
    columns.push_back({"key", false, {}});
    for (const Row& row : report.rows) columns.back().cells.push_back(one_line(shown_key(row)));
  }
  std::string text = conditions_of(comparison);
  for (const std::string& caption : captions_of(report))
    text += wrapped(caption, text_width) + "\n\n";
  text += table_of(comparison, columns, color) + "\n" + notes_of(comparison, names);
  text += counts_of(comparison);
  for (const std::string& failure : comparison.failures) text += failure + "\n";
  return as_utf8(text);
}

}  // namespace flashbench
