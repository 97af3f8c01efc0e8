// Rows on disk as they finish, and the rows of an earlier report that --resume need not run again.
#pragma once

#include <string>
#include <vector>

#include "plan/request.hpp"
#include "record/row.hpp"

namespace flashbench {

// One row a line. Each line is one write, so that whoever reads after a kill sees whole rows and at
// most one torn line at the end. Whoever has the journal of a report is the only one that writes
// that report: the file is locked while this lives.
class Journal {
 public:
  // Makes the file if there is none; what it holds stays. Throws std::runtime_error naming the file
  // and the cause, which may be that another process has it.
  explicit Journal(std::string path);
  ~Journal();  // an empty file goes
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  // Empties the file. Throws std::runtime_error naming the file and the cause.
  void begin();
  // Throws WriteError.
  void append(const Row&);
  // Deletes the file: the report has everything now. The lock is held until this is destroyed.
  void discard();

 private:
  bool lock();

  std::string path_;
  int descriptor_ = -1;
};

// The whole rows of a journal; a torn last line is left out. A missing file has none.
std::vector<Row> read_journal(const std::string& path);

// Whether --resume keeps the row: not one that crashed, timed out or was not run.
bool stands(const Row&);
// The rows of `earlier` that stand; those that are ok only if they hold the samples and checks that
// `now` would make, and those on loaded inputs only if they say which, and only as long as the
// schedule finds the same in the files. Throws UsageError naming the first field of device,
// build or inputs in which `earlier` differs from `now` (whose rows are not looked at).
std::vector<Row> resumable_rows(const Report& earlier, const Report& now);

}  // namespace flashbench
