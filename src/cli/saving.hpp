// What is on disk while a run goes on, and what --resume takes from there.
#pragma once

#include <memory>
#include <optional>
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

// What --resume FILE has already: the report with the rows of its journal; nothing without
// --resume. Throws UsageError when one of them cannot be read. resumable_rows says which rows
// stand.
std::optional<Report> report_to_resume(const Options&);
// Each case as its known row, or as not run.
std::vector<Row> unfinished_rows(const Plan&, const std::vector<Row>& known);
// "ok  v2/fwd/...  1.234 ms"
std::string row_note(const Row&);

}  // namespace flashbench
