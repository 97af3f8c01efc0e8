// Tables that set a report's rows beside the source document's. A view is one file and one line in
// views(); a config names one, the report keeps the name, and `flashbench report` shows it again.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "report/grid.hpp"

namespace flashbench {

struct View {
  const char* name;
  Grid (*grid)(const Report&);
};
const std::vector<View>& views();
// Null for "rows", which is the table without a view, and for a name of another version.
const View* find_view(std::string_view name);
// "rows" and the names of views().
std::vector<std::string> view_names();

Grid throughput_view(const Report&);  // 8.1: V2 over V1, by length
Grid relative_view(const Report&);    // 8.2: times as fast as PyTorch's standard attention
Grid memory_view(const Report&);      // 8.3: beyond inputs and outputs
Grid traffic_view(const Report&);     // 6.2: bytes by operand, by formula, as counted, by hardware

// The rows of a line of a view: they agree in every axis but those left out. No rows of another
// build.
using Line = std::vector<const Row*>;
std::vector<Line> lines_by_axes(const Report&, const std::set<std::string>& left_out);
// Columns of the shape, and of the other axes in which rows differ, but for those left out.
void add_axis_columns(Grid&, const Report&, const std::vector<Line>&,
                      const std::set<std::string>& left_out);
// Its row of that implementation; null where there is none.
const Row* row_of(const Line&, std::string_view impl);
// Its row of that pass.
const Row* row_of(const Line&, Pass);
// The first that is not ok; else ok.
Status worst_status(const Line&);
// Captions, findings, notes and the lines' statuses.
Grid grid_of(const Report&, const std::vector<Line>&);

}  // namespace flashbench
