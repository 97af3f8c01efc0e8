#include "cli/saving.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <unordered_map>

#include "record/json.hpp"
#include "report/report.hpp"

namespace flashbench {

namespace {

std::string journal_of(const std::string& report) {
  return report + ".journal";
}

bool is_plain_file(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  return path != "-" &&
         (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status));
}

std::vector<Row> journalled_rows(const std::string& report) {
  try {
    return read_journal(journal_of(report));
  } catch (const ProtocolError& error) {
    throw UsageError(fmt::format("{}: {}", journal_of(report), error.what()));
  }
}

}  // namespace

Saving::Saving(const Options& options, const Report& unfinished) {
  const auto json = options.outputs.find("json");
  if (json == options.outputs.end() || !is_plain_file(json->second)) return;
  try {
    write_atomically(json->second, report_text(unfinished));
    journal_ = std::make_unique<Journal>(journal_of(json->second));
  } catch (const std::exception& error) {
    throw UsageError(error.what());
  }
}

std::string Saving::row_finished(const Row& row) {
  if (!journal_) return {};
  try {
    journal_->append(row);
    return {};
  } catch (const std::exception& error) {
    journal_.reset();
    return fmt::format("rows are kept only when the run ends: {}", error.what());
  }
}

void Saving::discard() {
  if (journal_) journal_->discard();
  journal_.reset();
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
  return earlier;
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
