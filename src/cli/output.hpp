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
// Writes every file; what cannot be written is said on stderr. False if there was any.
bool write_outputs(const Report&, const Options&, bool wide);
// The table, unless an output is stdout.
void print_table(const Report&, const Options&, bool wide);

// Writes one file; "-" is stdout. Throws UsageError that names the file and the cause.
void save(const std::string& file, const std::string& text);

// A comparison to stdout, or to stderr; its warnings always to stderr. `wide`: with the full keys.
void print_comparison(const Comparison&, bool to_stdout, bool wide = false);

}  // namespace flashbench
