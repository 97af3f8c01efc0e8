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

}  // namespace

Grid make_pivot(const Report& report, const TableOptions& options) {
  const Axis& pivot = axis_named(options.pivot);
  Grid grid = frame_of(report);
  grid.captions.push_back("TFLOPS by " + pivot.name);

  std::vector<const Axis*> kept;
  for (const Axis& axis : axes())
    if (!is_implied(axis, report) && !is_said_by(pivot, axis, report)) kept.push_back(&axis);

  std::vector<std::string> groups, values;
  std::vector<const Row*> first;
  std::map<std::pair<std::size_t, std::size_t>, const Row*> cells;
  for (const Row& row : report.rows) {
    std::string group = device_of(row, report) + "\n";
    for (const Axis* axis : kept) group += cell_of(*axis, row) + "\n";
    const std::size_t line = place(groups, group);
    if (line == first.size()) first.push_back(&row);
    cells[{line, place(values, value_of(pivot, row))}] = &row;
  }

  grid.statuses.assign(groups.size(), Status::ok);
  if (has_several_devices(report)) {
    Column& column = grid.columns.emplace_back(Column{"device", false, {}});
    for (const Row* row : first) column.cells.push_back(or_missing(device_of(*row, report)));
  }
  for (const Axis* axis : kept) {
    Column column{axis->heading, axis->number, {}};
    for (const Row* row : first) column.cells.push_back(or_missing(cell_of(*axis, *row)));
    grid.columns.push_back(std::move(column));
  }
  for (std::size_t value = 0; value < values.size(); ++value) {
    std::vector<std::optional<double>> tflops(groups.size());
    for (std::size_t line = 0; line < groups.size(); ++line) {
      const auto cell = cells.find({line, value});
      if (cell != cells.end() && cell->second->status == Status::ok)
        tflops[line] = cell->second->tflops;
    }
    const std::string shown = or_missing(values[value]);
    const std::string heading = pivot.number ? pivot.heading + " " + shown : shown;
    grid.columns.push_back(figures(heading, tflops, 4));
  }
  return grid;
}

}  // namespace flashbench
