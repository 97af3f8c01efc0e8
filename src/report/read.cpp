#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "estimate/summary.hpp"
#include "record/errors.hpp"
#include "record/text.hpp"
#include "report/report.hpp"
#include "report/text.hpp"

namespace flashbench {

namespace {

namespace fs = std::filesystem;

// The text and what is made of it have to fit into memory; every sample of ten thousand rows is a
// tenth of it.
constexpr std::uintmax_t most_bytes = std::uintmax_t{512} << 20;

const char* name_of(fs::file_type type) {
  switch (type) {
    case fs::file_type::directory:
      return "a folder";
    case fs::file_type::fifo:
      return "a pipe";
    case fs::file_type::socket:
      return "a socket";
    default:
      return "a device";
  }
}

// What would never end, or only when somebody writes, is not waited for.
void refuse_what_is_no_report(const std::string& file) {
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (!fs::exists(status)) return;  // opening it says why
  if (!fs::is_regular_file(status))
    throw UsageError("cannot read " + file + ": it is " + name_of(status.type()) +
                     "; a report is a regular file");
  const std::uintmax_t bytes = fs::file_size(file, error);
  if (!error && bytes > most_bytes)
    throw UsageError("cannot read " + file + ": it has " + std::to_string(bytes >> 20) +
                     " MiB; a report has " + std::to_string(most_bytes >> 20) + " MiB at most");
}

std::string read_file(const std::string& file) {
  refuse_what_is_no_report(file);
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  if (!stream.is_open() || stream.bad())
    throw UsageError("cannot read " + file + ": " + std::generic_category().message(errno));
  return text;
}

// Intervals as they are made now, where the file has all samples: what says how sure a figure is
// may have been bettered since.
void renew_intervals(Report& report) {
  for (Row& row : report.rows) {
    if (!row.time || row.time->samples.empty() ||
        static_cast<std::int64_t>(row.time->samples.size()) != row.time->n)
      continue;
    const Time again = summarize(row.time->samples);
    row.time->low = again.low;
    row.time->high = again.high;
  }
}

}  // namespace

Report read_report(const std::string& file) {
  const std::string text = as_utf8(read_file(file));
  try {
    Report report = parse_report(text, file);
    renew_intervals(report);
    return report;
  } catch (const ProtocolError& error) {
    throw UsageError(one_line(error.what()));
  }
}

bool same_measurement(const Report& one, const Report& other) {
  return report_text(one) == report_text(other);
}

}  // namespace flashbench
