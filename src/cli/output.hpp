// A report to the files and the stdout that the user asked for.
#pragma once

#include "plan/request.hpp"
#include "record/row.hpp"

namespace flashbench {

// Whether one of the outputs is stdout, so that nothing else may be printed there.
bool stdout_is_taken(const Options&);
// Tool, device, argv, host and time; no rows. `device` may be null: a dry run on no device.
Report blank_report(const UserRequest&, const DeviceFacts* device);
// Writes every file; what cannot be written is said on stderr. False if there was any.
bool write_outputs(const Report&, const Options&, bool wide);
// The table, unless an output is stdout.
void print_table(const Report&, const Options&, bool wide);

}  // namespace flashbench
