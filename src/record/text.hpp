// Reports and rows as text, and back.
#pragma once

#include <string>

#include "record/errors.hpp"
#include "record/row.hpp"

namespace flashbench {

// flashbench.report/1, indented by 2 spaces and ending in a newline.
std::string report_text(const Report&);
// Throws ProtocolError, which begins with `name_for_errors`, when the text is no JSON, `schema` is
// not flashbench.report/1, rows is not a list, a value has the wrong type, a key stands twice in
// its object, or two rows have the same key.
Report parse_report(const std::string& text, const std::string& name_for_errors);
// One line each: the journal. Throws ProtocolError.
std::string row_line(const Row&);
Row parse_row_line(const std::string&);

// What both say of device, tool, measurement and so on; no rows, and unrecorded where they differ.
Report common_top(const Report& one, const Report& other);

}  // namespace flashbench
