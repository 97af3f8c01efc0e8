// The document's 8.2.
#include <fmt/format.h>

#include <algorithm>

#include "record/document.hpp"
#include "report/views.hpp"

namespace flashbench {

namespace {

using Figure = std::optional<double>;
constexpr const char* standard = document::relative.front().impl;

bool is_timed(const Row* row) {
  return row && row->status == Status::ok && row->time && row->time->median > 0;
}

Figure times_standard(const Report& report, const Row& row) {
  for (const Row& base : report.rows)
    if (base.what.impl == standard && base.what.pass == row.what.pass && is_timed(&base) &&
        problem_key(base.what) == problem_key(row.what))
      return base.time->median / row.time->median;
  return std::nullopt;
}

const document::Relative* documented_relative(const Line& line) {
  const Case& what = line.front()->what;
  const auto* found = std::ranges::find_if(
      document::relative, [&](const auto& each) { return each.impl == what.impl; });
  const bool its_shape = what.problem.seq_q == document::relative_seq &&
                         what.problem.head_dim == document::relative_head_dim;
  return its_shape && found != document::relative.end() ? found : nullptr;
}

struct Direction {
  Pass pass;
  const char* name;
  double document::Relative::*documents;
};

void add_direction(Grid& grid, const Report& report, const std::vector<Line>& lines,
                   const Direction& direction) {
  std::vector<Figure> times, widths, factors, by_document;
  for (const Line& line : lines) {
    const Row* row = row_of(line, direction.pass);
    const bool timed = is_timed(row);
    times.push_back(timed ? Figure(row->time->median) : std::nullopt);
    widths.push_back(timed ? half_width_percent(*row) : std::nullopt);
    factors.push_back(timed ? times_standard(report, *row) : std::nullopt);
    const document::Relative* said = documented_relative(line);
    by_document.push_back(said ? Figure(said->*direction.documents) : std::nullopt);
  }
  const std::string name = direction.name;
  grid.columns.push_back(figures(name + " ms", times, 4));
  grid.columns.push_back(figures("± %", widths, 2));
  grid.columns.push_back(figures(name + " x", factors, 3));
  grid.columns.push_back(figures("document (A100) " + name + " x", by_document, 2));
}

}  // namespace

Grid relative_view(const Report& report) {
  const std::vector<Line> lines = lines_by_axes(report, {"pass"});
  Grid grid = grid_of(report, lines);
  grid.captions.push_back(
      fmt::format("x: times as fast as {}, measured in the same rounds", standard));
  grid.captions.emplace_back("document (A100): section 8.2, an A100-80GB at 2048 tokens, d = 128");
  Column& impl = grid.columns.emplace_back(Column{"implementation", false, {}});
  for (const Line& line : lines) impl.cells.push_back(or_missing(line.front()->what.impl));
  Column& name = grid.columns.emplace_back(Column{"in the document", false, {}});
  for (const Line& line : lines) {
    const document::Relative* said = documented_relative(line);
    name.cells.emplace_back(said ? said->name : "-");
  }
  add_axis_columns(grid, report, lines, {"impl", "source", "pass"});
  for (const Direction& direction :
       {Direction{Pass::fwd, "forward", &document::Relative::forward},
        Direction{Pass::bwd, "backward", &document::Relative::backward}})
    add_direction(grid, report, lines, direction);
  Column& status = grid.columns.emplace_back(Column{"status", false, {}});
  for (const Line& line : lines) status.cells.emplace_back(flashbench::name(worst_status(line)));
  return grid;
}

}  // namespace flashbench
