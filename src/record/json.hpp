// To and from JSON for every record, in one place for protocol, journal and report. Strict JSON: a
// missing or not finite number is null; readers ignore unknown keys and tolerate absent ones.
#pragma once

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "record/messages.hpp"
#include "record/row.hpp"

namespace flashbench {

using Json = nlohmann::ordered_json;

// A line or file that is not what it should be; what() names the file or quotes the line, and says
// what was expected.
struct ProtocolError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

Json to_json(const Case&);
Json to_json(const Row&);
Json to_json(const DeviceFacts&);
Json to_json(const Report&);  // flashbench.report/1
Case case_from_json(const Json&);
Row row_from_json(const Json&);
DeviceFacts device_from_json(const Json&);
// Throws ProtocolError when `schema` is not flashbench.report/1, rows is not a list, a value has
// the wrong type, or two rows have the same key.
Report report_from_json(const Json&);

// What both say of device, tool, measurement and so on; no rows, and unrecorded where they differ.
Report common_top(const Report& one, const Report& other);

// The report JSON with 2-space indent (dump() of the above), ending in a newline.
std::string report_text(const Report&);
// The same of a text, in which no key may stand twice in its object.
Report parse_report(const std::string& text, const std::string& name_for_errors);
// One line each: the journal.
std::string row_line(const Row&);
Row parse_row_line(const std::string&);

}  // namespace flashbench
