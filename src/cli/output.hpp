// A report to the files and the stdout that the user asked for.
#pragma once

#include "compare/compare.hpp"
#include "plan/request.hpp"
#include "record/messages.hpp"

namespace flashbench {

// Whether one of the outputs is stdout, so that nothing else may be printed there.
bool stdout_is_taken(const Options&);
// Tool, device, method, argv, host and time; no rows. A worker that was never asked has no device.
Report blank_report(const UserRequest&, const reply::Hello&);
// Writes the file of that format, where there is one; what cannot be written is said on stderr.
// False if it could not.
bool write_output(const Options&, const std::string& format, const std::string& text);
// Likewise the report to every file. `more`: rows of an earlier report that --json holds beside
// this one's.
bool write_outputs(const Report&, const Options&, bool wide, const std::vector<Row>& more = {});
// The table, unless an output is stdout.
void print_table(const Report&, const Options&, bool wide);
// With --explain, the formulas of `rows`, which may refer to others of `report`: to stdout, or to
// stderr where an output is stdout.
void print_explanations(const Report& report, const std::vector<Row>& rows, const Options&);
// What --profile ran, likewise.
void print_profiled(const Report&, const Options&);

// A comparison to stdout, or to stderr; its warnings always to stderr. `wide`: with the full keys.
void print_comparison(const Comparison&, bool to_stdout, bool wide = false);

}  // namespace flashbench
