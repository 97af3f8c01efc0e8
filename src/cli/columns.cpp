#include "cli/columns.hpp"

#include <algorithm>

#include "report/text.hpp"

namespace flashbench {

std::string in_columns(const std::vector<std::vector<std::string>>& lines,
                       const std::vector<bool>& right) {
  std::vector<std::size_t> widths;
  for (const auto& line : lines)
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (i == widths.size()) widths.push_back(0);
      widths[i] = std::max(widths[i], display_width(line[i]));
    }
  std::string text;
  for (const auto& line : lines) {
    std::string row;
    for (std::size_t i = 0; i < line.size(); ++i)
      row += (i ? "  " : "") + pad(line[i], widths[i], i < right.size() && right[i]);
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + "\n";
  }
  return text;
}

}  // namespace flashbench
