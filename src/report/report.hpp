// Rows to text. A renderer is a file of its own and, where it is a format to write, a line in
// formats(); none of them measures or judges.
#pragma once

#include <filesystem>
#include <string>

#include "record/row.hpp"

namespace flashbench {

struct TableOptions {
  bool color = false, wide = false;  // wide: registers, shared memory, blocks an SM, waves too
  std::string pivot;                 // an axis, or empty
  // One of view_names(), instead of the report's own.
  std::string view = "";
};

std::string render_table(const Report&, const TableOptions&);
std::string render_csv(const Report&);  // RFC 4180, a record a row
std::string render_markdown(const Report&, const TableOptions&);
std::string render_junit(const Report&);
// Every formula of a row with its numbers, as lines "what  arithmetic = result; in words". What the
// row itself says is set beside a result that it does not equal. `report` is where the rows that it
// refers to are found.
std::string explain(const Report& report, const Row&);
// Where the content of `path` lies or will lie: an absolute path, every link followed.
std::filesystem::path file_behind(const std::string& path);
// Writes by rename, so that the file always holds old or new content; makes missing folders. "-" is
// stdout. Throws std::runtime_error naming the file and the cause.
void write_atomically(const std::string& path, const std::string& text);
// Before any work: throws UsageError when `path` could not be written, a pipe that nobody reads
// included; one that is read stays open until the process ends.
void check_writable(const std::string& path);
// A saved report, for `flashbench report`, compare and --baseline; throws UsageError that names the
// file and the cause.
Report read_report(const std::string& file);
// Whether two reports hold the same measurement, however their files are laid out.
bool same_measurement(const Report&, const Report&);

}  // namespace flashbench
