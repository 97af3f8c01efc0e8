// Options that several commands have.
#pragma once

#include <string>
#include <vector>

#include "cli/parser.hpp"
#include "plan/request.hpp"

namespace flashbench {

Option flag_option(const char* name, const char* group, const char* help, bool& target);
// A file to write; - is stdout.
Option file_option(const char* name, const char* help, std::string& target, const char* group);
Option device_option(std::string& target, const char* group);
// --json, --csv, --md, --junit, --pivot, --wide.
void add_output_options(std::vector<Option>&, Options&, bool& wide, const char* group);

// auto, cpu, cuda or an ordinal. Throws UsageError.
void check_device_word(const std::string& device);
// Throws UsageError for two outputs to one place, an unknown --pivot axis, a file or --dump folder
// that cannot be written; makes missing folders.
void check_outputs(const Options&);

}  // namespace flashbench
