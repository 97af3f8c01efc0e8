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

// What `flashbench COMMAND --help` prints.
std::string run_help();
std::string compare_help();
std::string report_help();
std::string info_help();
std::string list_help();
std::string doctor_help();
std::string selftest_help();
std::string claims_help();

}  // namespace flashbench
