#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "plan/request.hpp"
#include "record/json.hpp"
#include "report/report.hpp"
#include "report/text.hpp"

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

}  // namespace

Report read_report(const std::string& file) {
  const std::string text = as_utf8(read_file(file));
  try {
    return parse_report(text, file);
  } catch (const ProtocolError& error) {
    throw UsageError(error.what());
  }
}

bool same_measurement(const Report& one, const Report& other) {
  return report_text(one) == report_text(other);
}

}  // namespace flashbench
