// A report as headings, cells and notes: what the table and Markdown both show. Cells are one line
// each; missing figures are "n/a".
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/axes.hpp"
#include "report/report.hpp"

namespace flashbench {

struct Column {
  std::string heading;  // with its unit
  bool right = false;   // numbers stand right
  std::vector<std::string> cells;
};

struct Grid {
  std::vector<std::string> captions;  // before the table: device, what all rows share
  std::vector<Column> columns;        // equally long
  std::vector<Status> statuses;       // a row each, for colour
  std::vector<std::string> findings;  // after it: what the rows show, in sentences
  std::vector<std::string> notes;     // then: reasons, what flags mean
};

// A report's tables: one of the rows that do not stand on the ladder from V1 to V2, then those of
// make_ladder_grids, then, where counters were asked for, traffic_table's; with a pivot,
// make_grid's alone.
std::vector<Grid> make_grids(const Report&, const TableOptions&);
// All rows in one table. Pivoted on options.pivot if it is not empty: throws UsageError when it
// names no axis. Else the view that the options or the report name, else a line a row.
Grid make_grid(const Report&, const TableOptions&);
// Of rows that stand on the ladder: a table a problem with what the figures say in words below it,
// then, where there are several problems, what each idea brings in all of them side by side.
std::vector<Grid> make_ladder_grids(const Report&);

// Of --counters: whether some row has them or says why not; their columns and notes for the table
// of rows, where there are any; the traffic of each row that is ok, without anything around the
// cells.
bool asked_for_counters(const Report&);
void add_counters(Grid&, const Report&);
Grid traffic_table(const Report&);
Grid make_pivot(const Report&, const TableOptions&);
// What stands around the cells of grid and pivot alike.
std::vector<std::string> captions_of(const Report&);
std::vector<std::string> findings_of(const Report&);
std::vector<std::string> notes_of(const Report&);
Grid frame_of(const Report&);  // the three, without columns
// The heading and then a line a row, aligned by display width, without trailing blanks.
std::vector<std::string> aligned(const std::vector<Column>&);
// Of the launch with the most registers, the main kernel as a rule; null where there is none.
const Launch* main_launch(const Row&);
// "pass", "fail", or nothing where it was not checked.
std::string check_word(const Row&);
// Of the time's interval, in % of the median.
std::optional<double> half_width_percent(const Row&);
// Captions, the aligned table and what stands below; headings and rows that are not ok in colour,
// or all plain.
std::string table_text(const Grid&, bool color);
std::string markdown_text(const Grid&);
// What stands where there is nothing to show.
inline constexpr const char* missing = "n/a";
// The text as a cell.
std::string or_missing(const std::string&);
// A column of figures with as many decimals as its smallest needs for `digits` significant digits.
Column figures(const std::string& heading, const std::vector<std::optional<double>>&, int digits);
std::optional<double> percent(const std::optional<double>& part);

}  // namespace flashbench
