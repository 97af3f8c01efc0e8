#include "cli/saving.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "cli/places.hpp"
#include "record/text.hpp"
#include "report/report.hpp"

namespace flashbench {

namespace {

std::vector<Row> journalled_rows(const std::string& report) {
  try {
    return read_journal(journal_of(report));
  } catch (const ProtocolError& error) {
    throw UsageError(fmt::format("{}: {}", journal_of(report), error.what()));
  }
}

}  // namespace

Saving::Saving(const Options& options) {
  report_ = options.output("json");
  if (report_.empty() || !is_plain_file(report_)) return;
  try {
    journal_ = std::make_unique<Journal>(journal_of(report_));
  } catch (const std::exception& error) {
    throw UsageError(fmt::format("--json {}: {}", report_, error.what()));
  }
}

void Saving::begin(const Report& unfinished) {
  if (!journal_) return;
  try {
    write_atomically(report_, report_text(unfinished));  // has the rows of an earlier journal
    journal_->begin();
  } catch (const std::exception& error) {
    throw UsageError(error.what());
  }
}

std::string Saving::row_finished(const Row& row) {
  if (!journal_ || broken_) return {};
  try {
    journal_->append(row);
    return {};
  } catch (const std::exception& error) {
    broken_ = true;
    return fmt::format("rows are kept only when the run ends: {}", error.what());
  }
}

void Saving::discard() {
  if (journal_) journal_->discard();
}

std::optional<Report> report_to_resume(const Options& options) {
  if (options.resume_file.empty()) return std::nullopt;
  Report earlier = read_report(options.resume_file);
  std::unordered_map<std::string, std::size_t> place;
  for (std::size_t i = 0; i < earlier.rows.size(); ++i) place[identity(earlier.rows[i])] = i;
  for (Row& row : journalled_rows(options.resume_file)) {
    const auto found = place.find(identity(row));
    if (found == place.end())
      earlier.rows.push_back(std::move(row));
    else
      earlier.rows[found->second] = std::move(row);
  }
  for (Row& row : earlier.rows)  // the new report may have another one
    if (row.label.empty()) row.label = earlier.label;
  return earlier;
}

std::vector<Row> rows_beside(const Plan& plan, const Report& earlier) {
  std::unordered_set<std::string> planned;
  for (const Case& what : plan.cases) planned.insert(key(what));
  std::vector<Row> rows;
  for (const Row& row : earlier.rows)
    if (!planned.contains(identity(row))) rows.push_back(row);
  return rows;
}

Report with_rows(Report report, const std::vector<Row>& more) {
  const auto not_run = [](const Row& row) { return row.status == Status::not_run; };
  if (std::ranges::any_of(more, not_run)) report.complete = false;
  report.rows.insert(report.rows.end(), more.begin(), more.end());
  return report;
}

std::vector<Row> unfinished_rows(const Plan& plan, const std::vector<Row>& known) {
  std::unordered_map<std::string, const Row*> finished;
  for (const Row& row : known) finished[identity(row)] = &row;
  std::vector<Row> rows;
  for (const Case& what : plan.cases) {
    if (const auto found = finished.find(key(what)); found != finished.end()) {
      rows.push_back(*found->second);
      continue;
    }
    Row& row = rows.emplace_back();
    row.what = what;
    row.flops = flops(what.problem, what.pass);
    row.reason = "the run ended before this row had finished";
  }
  return rows;
}

std::string row_note(const Row& row) {
  std::string note = fmt::format("{:<11} {}", name(row.status), key(row.what));
  if (row.time) note += fmt::format("  {:.4g} ms", row.time->median);
  if (row.tflops) note += fmt::format("  {:.4g} TFLOPS", *row.tflops);
  if (!row.reason.empty()) note += "  " + row.reason;
  return note;
}

}  // namespace flashbench
