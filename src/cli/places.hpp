// Files that are written against each other, and against those that are read.
#pragma once

#include <string>
#include <vector>

#include "plan/request.hpp"

namespace flashbench {

// Rows of a run as they finish, beside its report.
std::string journal_of(const std::string& report);
// A plain file, or one that is yet to be made: no pipe, no device, no "-".
bool is_plain_file(const std::string& path);
bool are_one_file(const std::string& one, const std::string& other);

// A file that a run reads, and what its user called it: {"--config", "c.json"}.
struct ReadFile {
  std::string option, path;
};
// Throws UsageError naming both, where two outputs would go to one file (whatever its names: links,
// ./x, the journal of --json, stdout sent to a file), where one would have to be a folder for
// another, or where an output would go over a file that is read; of these only --resume and --json
// may be one. Files of `read` beside those of the options.
void check_places(const Options&, const std::vector<ReadFile>& read);

}  // namespace flashbench
