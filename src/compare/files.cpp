#include <filesystem>
#include <system_error>

#include "compare/compare.hpp"
#include "record/errors.hpp"
#include "report/report.hpp"

namespace flashbench {

Comparison compare_files(const std::string& base_file, const std::string& new_file,
                         const CompareOptions& options) {
  const Report base = read_report(base_file), now = read_report(new_file);
  std::error_code error;
  if (std::filesystem::equivalent(base_file, new_file, error) || same_measurement(base, now))
    throw UsageError("comparing a report with itself says nothing: " + base_file + " and " +
                     new_file + " hold the same measurement");
  return compare(base, now, options);
}

}  // namespace flashbench
