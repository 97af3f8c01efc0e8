#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "compare/compare.hpp"
#include "plan/request.hpp"
#include "record/json.hpp"

namespace flashbench {

namespace {

std::string read_file(const std::string& file) {
  std::error_code error;
  if (std::filesystem::is_directory(file, error))
    throw UsageError("cannot read " + file + ": it is a folder");
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  if (!stream.is_open() || stream.bad())
    throw UsageError("cannot read " + file + ": " + std::generic_category().message(errno));
  return text;
}

Report report_of(const std::string& text, const std::string& file) {
  try {
    return parse_report(text, file);
  } catch (const ProtocolError& error) {
    throw UsageError(error.what());
  }
}

}  // namespace

Report read_report(const std::string& file) {
  return report_of(read_file(file), file);
}

Comparison compare_files(const std::string& base_file, const std::string& new_file,
                         const CompareOptions& options) {
  const std::string base_text = read_file(base_file), new_text = read_file(new_file);
  const Report base = report_of(base_text, base_file), now = report_of(new_text, new_file);
  std::error_code error;
  if (std::filesystem::equivalent(base_file, new_file, error) || base_text == new_text ||
      report_text(base) == report_text(now))
    throw UsageError("comparing a report with itself says nothing: " + base_file + " and " +
                     new_file + " hold the same measurement");
  return compare(base, now, options);
}

}  // namespace flashbench
