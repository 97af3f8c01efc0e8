#include "report/grid.hpp"
#include "report/text.hpp"

namespace flashbench {

namespace {

constexpr const char *bold = "\x1b[1m", *red = "\x1b[31m", *yellow = "\x1b[33m", *plain = "\x1b[0m";

const char* color_of(Status status) {
  switch (status) {
    case Status::ok:
      return "";
    case Status::failed:
    case Status::crashed:
    case Status::timeout:
      return red;
    case Status::unsupported:
    case Status::oom:
    case Status::not_run:
      return yellow;
  }
  return "";
}

void add_line(std::string& text, const std::string& line, const char* color) {
  text += *color ? color + line + plain : line;
  text += '\n';
}

}  // namespace

std::vector<std::string> aligned(const std::vector<Column>& columns) {
  std::vector<std::string> lines(columns.empty() ? 1 : columns.front().cells.size() + 1);
  for (const Column& column : columns) {
    std::size_t width = display_width(column.heading);
    for (const std::string& cell : column.cells) width = std::max(width, display_width(cell));
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (&column != &columns.front()) lines[i] += "  ";
      lines[i] += pad(i == 0 ? column.heading : column.cells[i - 1], width, column.right);
    }
  }
  for (std::string& line : lines) line.erase(line.find_last_not_of(' ') + 1);
  return lines;
}

std::string table_text(const Grid& grid, bool color) {
  std::string text;
  for (const std::string& caption : grid.captions) text += wrapped(caption, text_width) + "\n";
  if (!grid.captions.empty()) text += "\n";
  const std::vector<std::string> lines = aligned(grid.columns);
  for (std::size_t i = 0; i < lines.size(); ++i)
    add_line(text, lines[i], !color ? "" : i == 0 ? bold : color_of(grid.statuses[i - 1]));
  for (const auto* lines_after : {&grid.findings, &grid.notes}) {
    if (!lines_after->empty()) text += "\n";
    for (const std::string& line : *lines_after) text += wrapped(line, text_width) + "\n";
  }
  return as_utf8(text);
}

std::string render_table(const Report& report, const TableOptions& options) {
  std::string text;
  for (const Grid& grid : make_grids(report, options))
    text += (text.empty() ? "" : "\n") + table_text(grid, options.color);
  return text;
}

}  // namespace flashbench
