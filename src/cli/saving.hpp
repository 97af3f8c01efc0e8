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
// FILE.journal with each row as it finishes. The final report takes the place of both. While it
// lives no other run writes there. Without --json, or with one that is no plain file, nothing is
// kept.
class Saving {
 public:
  // Takes the place; writes nothing yet. Before what --resume names is read, lest another run
  // finish rows in between. Throws UsageError when it cannot be had.
  explicit Saving(const Options&);
  // Throws UsageError when either file cannot be written.
  void begin(const Report& unfinished);
  // Also of a row that had finished and knows more now. Why the row could not be kept, said once;
  // empty when it was. The run goes on all the same.
  std::string row_finished(const Row&);
  void discard();

 private:
  std::string report_;
  std::unique_ptr<Journal> journal_;
  bool broken_ = false;  // the journal: what it lacks the final report has
};

// What --resume FILE has already: the report with the rows of its journal; nothing without
// --resume. Throws UsageError when one of them cannot be read. resumable_rows says which rows
// stand.
std::optional<Report> report_to_resume(const Options&);
// The rows of an earlier report that this plan does not have.
std::vector<Row> rows_beside(const Plan&, const Report& earlier);
// The report with these rows behind its own; incomplete if one of them was not run.
Report with_rows(Report, const std::vector<Row>& more);
// Each case as its known row, or as not run.
std::vector<Row> unfinished_rows(const Plan&, const std::vector<Row>& known);
// "ok  v2/fwd/...  1.234 ms"
std::string row_note(const Row&);

}  // namespace flashbench
