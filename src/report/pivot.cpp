#include <algorithm>
#include <map>

#include "record/errors.hpp"
#include "report/grid.hpp"
#include "report/text.hpp"

namespace flashbench {

namespace {

const Axis& axis_named(const std::string& wanted) {
  std::string known;
  for (const Axis& axis : axes()) {
    if (axis.name == wanted) return axis;
    known += " " + axis.name;
  }
  throw UsageError("--pivot: \"" + wanted + "\" is no axis; the axes are" + known);
}

// Whether `axis` says nothing that the pivot's own value does not say (batch that follows seq).
bool is_said_by(const Axis& pivot, const Axis& axis, const Report& report) {
  if (axis.name == pivot.name) return true;
  if (axis.name == "impl") return false;
  if (axis.name == "pass") return is_constant(axis, report);
  return follows(axis, pivot, report);
}

std::size_t place(std::vector<std::string>& seen, const std::string& value) {
  const auto found = std::find(seen.begin(), seen.end(), value);
  if (found == seen.end()) seen.push_back(value);
  return static_cast<std::size_t>(std::find(seen.begin(), seen.end(), value) - seen.begin());
}

// A line for the rows that differ in the pivot alone, a column for each of its values.
struct Pivoted {
  std::vector<const Row*> first;    // of each line
  std::vector<std::string> values;  // of the pivot, in the rows' order
  std::map<std::pair<std::size_t, std::size_t>, const Row*> cells;  // by line and value
};

Pivoted pivoted(const Report& report, const Axis& pivot, const std::vector<const Axis*>& kept) {
  Pivoted table;
  std::vector<std::string> lines;
  for (const Row& row : report.rows) {
    std::string words = device_of(row, report) + "\n";
    for (const Axis* axis : kept) words += cell_of(*axis, row) + "\n";
    const std::size_t line = place(lines, words);
    if (line == table.first.size()) table.first.push_back(&row);
    table.cells[{line, place(table.values, value_of(pivot, row))}] = &row;
  }
  return table;
}

Column tflops_of(const Pivoted& table, std::size_t value, const Axis& pivot) {
  std::vector<std::optional<double>> tflops(table.first.size());
  for (std::size_t line = 0; line < tflops.size(); ++line) {
    const auto cell = table.cells.find({line, value});
    if (cell != table.cells.end() && cell->second->status == Status::ok)
      tflops[line] = cell->second->tflops;
  }
  const std::string shown = or_missing(table.values[value]);
  return figures(pivot.number ? pivot.heading + " " + shown : shown, tflops, 4);
}

}  // namespace

Grid make_pivot(const Report& report, const TableOptions& options) {
  const Axis& pivot = axis_named(options.pivot);
  std::vector<const Axis*> kept;
  for (const Axis& axis : axes())
    if (!is_implied(axis, report) && !is_said_by(pivot, axis, report)) kept.push_back(&axis);
  const Pivoted table = pivoted(report, pivot, kept);
  Grid grid = frame_of(report);
  grid.captions.push_back("TFLOPS by " + pivot.name);
  grid.statuses.assign(table.first.size(), Status::ok);
  if (has_several_devices(report)) {
    Column& column = grid.columns.emplace_back(Column{"device", false, {}});
    for (const Row* row : table.first) column.cells.push_back(or_missing(device_of(*row, report)));
  }
  for (const Axis* axis : kept) {
    Column& column = grid.columns.emplace_back(Column{axis->heading, axis->number, {}});
    for (const Row* row : table.first) column.cells.push_back(or_missing(cell_of(*axis, *row)));
  }
  for (std::size_t value = 0; value < table.values.size(); ++value)
    grid.columns.push_back(tflops_of(table, value, pivot));
  return grid;
}

}  // namespace flashbench
