// To and from JSON for every record, in one place for protocol, journal and report. Strict JSON: a
// missing or not finite number is null; readers ignore unknown keys and tolerate absent ones.
#pragma once

#include <nlohmann/json.hpp>

#include "record/messages.hpp"
#include "record/row.hpp"
#include "record/text.hpp"

namespace flashbench {

using Json = nlohmann::ordered_json;

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

}  // namespace flashbench
