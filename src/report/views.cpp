#include "report/views.hpp"

#include <algorithm>

namespace flashbench {

const std::vector<View>& views() {
  static const std::vector<View> all{{"throughput", throughput_view},
                                     {"relative", relative_view},
                                     {"memory", memory_view},
                                     {"traffic", traffic_view}};
  return all;
}

const View* find_view(std::string_view name) {
  const auto found = std::ranges::find(views(), name, &View::name);
  return found == views().end() ? nullptr : &*found;
}

std::vector<std::string> view_names() {
  std::vector<std::string> names{"rows"};
  for (const View& view : views()) names.emplace_back(view.name);
  return names;
}

std::vector<Line> lines_by_axes(const Report& report, const std::set<std::string>& left_out) {
  std::vector<std::string> seen;
  std::vector<Line> lines;
  for (const Row& row : report.rows) {
    if (row.what.source.starts_with("against:")) continue;
    std::string values;
    for (const Axis& axis : axes())
      if (!left_out.contains(axis.name)) values += cell_of(axis, row) + "\n";
    const auto place = std::ranges::find(seen, values);
    if (place == seen.end()) {
      seen.push_back(values);
      lines.push_back({&row});
    } else {
      lines[static_cast<std::size_t>(place - seen.begin())].push_back(&row);
    }
  }
  return lines;
}

void add_axis_columns(Grid& grid, const Report& report, const std::vector<Line>& lines,
                      const std::set<std::string>& left_out) {
  static const std::set<std::string> always{"batch", "heads", "seq", "head-dim"};
  for (const Axis& axis : axes()) {
    if (left_out.contains(axis.name) || is_implied(axis, report)) continue;
    if (!always.contains(axis.name) && is_constant(axis, report)) continue;
    Column& column = grid.columns.emplace_back(Column{axis.heading, axis.number, {}});
    for (const Line& line : lines) column.cells.push_back(or_missing(cell_of(axis, *line.front())));
  }
}

const Row* row_of(const Line& line, std::string_view impl) {
  const auto found =
      std::ranges::find_if(line, [&](const Row* row) { return row->what.impl == impl; });
  return found == line.end() ? nullptr : *found;
}

const Row* row_of(const Line& line, Pass pass) {
  const auto found =
      std::ranges::find_if(line, [&](const Row* row) { return row->what.pass == pass; });
  return found == line.end() ? nullptr : *found;
}

Status worst_status(const Line& line) {
  for (const Row* row : line)
    if (row->status != Status::ok) return row->status;
  return Status::ok;
}

Grid grid_of(const Report& report, const std::vector<Line>& lines) {
  Grid grid = frame_of(report);
  for (const Line& line : lines) grid.statuses.push_back(worst_status(line));
  return grid;
}

}  // namespace flashbench
