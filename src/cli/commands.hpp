// The commands of flashbench. Each takes the words after its name, writes its result to stdout and
// returns the exit code; UsageError and DeviceError are the caller's to report.
#pragma once

#include <string>
#include <vector>

namespace flashbench {

using Arguments = std::vector<std::string>;

// Finds the command (run when none is named), answers --help and --version, reports errors on
// stderr in one line and turns them into exit codes.
int run_command_line(const Arguments&);

int run_command(const Arguments&);
int compare_command(const Arguments&);
int report_command(const Arguments&);
int info_command(const Arguments&);
int list_command(const Arguments&);
int doctor_command(const Arguments&);
int selftest_command(const Arguments&);
int claims_command(const Arguments&);

struct Command;
Command run_help();
Command compare_help();
Command report_help();
Command info_help();
Command list_help();
Command doctor_help();
Command selftest_help();
Command claims_help();

}  // namespace flashbench
