// Options that several commands have.
#pragma once

#include <string>
#include <vector>

#include "cli/parser.hpp"
#include "cli/places.hpp"
#include "plan/request.hpp"

namespace flashbench {

Option flag_option(const char* name, const char* group, const char* help, bool& target);
// A report or the like to write, by its format; - is stdout.
Option file_option(const char* format, const char* help, Options&, const char* group);
Option device_option(std::string& target, const char* group);
// What `what` (cases, rows) to keep.
Option filter_option(std::string& target, const char* group, const char* what);
// --json and the other formats, --pivot, --wide, --explain.
void add_output_options(std::vector<Option>&, Options&, bool& wide, const char* group);

// auto, cpu, cuda or an ordinal. Throws UsageError.
void check_device_word(const std::string& device, const std::string& called = "--device");
// Throws UsageError for an unknown --pivot axis, places that collide (check_places), a file or
// --dump folder that cannot be written; makes missing folders.
void check_outputs(const Options&, const std::vector<ReadFile>& read,
                   const std::string& view = "--view");

}  // namespace flashbench
