#include "report/grid.hpp"
#include "report/text.hpp"

namespace flashbench {

namespace {

// A pipe would end the cell, a backslash before it would undo its escape, and the rest would be
// taken for markup.
std::string markdown_escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (std::string_view("|\\<`*").find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

}  // namespace

std::string markdown_text(const Grid& grid) {
  std::string text, heading = "|", rule = "|";
  for (const std::string& caption : grid.captions) text += markdown_escaped(caption) + "  \n";
  if (!grid.captions.empty()) text += "\n";

  std::vector<std::string> lines(grid.statuses.size(), "|");
  for (const Column& column : grid.columns) {
    std::size_t width = std::max<std::size_t>(3, display_width(markdown_escaped(column.heading)));
    for (const std::string& cell : column.cells)
      width = std::max(width, display_width(markdown_escaped(cell)));
    heading += " " + pad(markdown_escaped(column.heading), width, column.right) + " |";
    rule += " " + std::string(width - 1, '-') + (column.right ? ": |" : "- |");
    for (std::size_t i = 0; i < lines.size(); ++i)
      lines[i] += " " + pad(markdown_escaped(column.cells[i]), width, column.right) + " |";
  }
  text += heading + "\n" + rule + "\n";
  for (const std::string& line : lines) text += line + "\n";

  if (!grid.findings.empty()) text += "\n";
  for (const std::string& finding : grid.findings) text += markdown_escaped(finding) + "  \n";
  if (!grid.notes.empty()) text += "\n";
  for (const std::string& note : grid.notes) text += "- " + markdown_escaped(note) + "\n";
  return as_utf8(text);
}

std::string render_markdown(const Report& report, const TableOptions& options) {
  std::string text;
  for (const Grid& grid : make_grids(report, options))
    text += (text.empty() ? "" : "\n") + markdown_text(grid);
  return text;
}

}  // namespace flashbench
