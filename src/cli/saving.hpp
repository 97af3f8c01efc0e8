// What is on disk while a run goes on, and what --resume takes from there.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "plan/plan.hpp"
#include "record/row.hpp"
#include "schedule/journal.hpp"

namespace flashbench {

// From the start there is a report at --json that says complete: false, and beside it
// FILE.journal with each row as it finishes. The final report takes the place of both. Without
// --json, or with one that is no plain file, nothing is kept.
class Saving {
 public:
  // Throws UsageError when either cannot be written.
  Saving(const Options&, const Report& unfinished);
  // Why the row could not be kept, said once; empty when it was. The run goes on all the same.
  std::string row_finished(const Row&);
  void discard();

 private:
  std::unique_ptr<Journal> journal_;
};

// Rows that --resume FILE has already: those of the report and of its journal. Throws UsageError
// when the report is of another device, build or input.
std::vector<Row> rows_to_resume(const Options&, const Report& now);
// Each case as its known row, or as not run.
std::vector<Row> unfinished_rows(const Plan&, const std::vector<Row>& known);
// "ok  v2/fwd/...  1.234 ms"
std::string row_note(const Row&);

}  // namespace flashbench
