// A report as headings, cells and notes: what the table and Markdown both show. Cells are one line
// each; missing figures are "n/a".
#pragma once

#include <string>
#include <vector>

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
  std::vector<std::string> notes;     // after it: reasons, what flags mean
};

// Pivoted on options.pivot if it is not empty: throws UsageError when it names no axis. Else the
// view that the options or the report name, else a line a row.
Grid make_grid(const Report&, const TableOptions&);

// An axis of a sweep, as a column: text of each case's value, and where a report keeps it.
struct Axis {
  std::string name, heading;
  bool number = false;
  std::string (*value)(const Case&) = nullptr;
  const char* path = "";
};
const std::vector<Axis>& axes();
// The row's value; empty where the row's file does not say it.
std::string value_of(const Axis&, const Row&);
// The row's key. Where its file gives neither a key nor all that makes one: what it does give.
std::string shown_key(const Row&);
// The row's value as a cell: a row that names no implementation goes by its key.
std::string cell_of(const Axis&, const Row&);
// Empty where the row's file says neither a status nor a time.
std::string status_of(const Row&);
// Every row has the same value, or none.
bool is_constant(const Axis&, const Report&);
// Every row's value follows from another axis: keys as many as queries, the usual scale.
bool is_implied(const Axis&, const Report&);
Grid make_pivot(const Report&, const TableOptions&);
// Captions and notes that grid and pivot share.
std::vector<std::string> captions_of(const Report&);
std::vector<std::string> notes_of(const Report&);
// The heading and then a line a row, aligned by display width, without trailing blanks.
std::vector<std::string> aligned(const std::vector<Column>&);
// Captions, the aligned table and notes; headings and rows that are not ok in colour, or all plain.
std::string table_text(const Grid&, bool color);
std::string markdown_text(const Grid&);
// What stands where there is nothing to show.
inline constexpr const char* missing = "n/a";
// The text as a cell.
std::string or_missing(const std::string&);
// A column of figures with as many decimals as its smallest needs for `digits` significant digits.
Column figures(const std::string& heading, const std::vector<std::optional<double>>&, int digits);

}  // namespace flashbench
