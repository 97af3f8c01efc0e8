#include "cli/output.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>

#include "cli/columns.hpp"
#include "cli/console.hpp"
#include "cli/saving.hpp"
#include "report/formats.hpp"
#include "report/grid.hpp"
#include "report/report.hpp"
#include "report/text.hpp"
#include "schedule/schedule.hpp"
#include "version.hpp"

namespace flashbench {

namespace {

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

}  // namespace

bool stdout_is_taken(const Options& options) {
  return std::ranges::any_of(options.outputs,
                             [](const auto& output) { return output.second == "-"; });
}

Report blank_report(const UserRequest& request, const reply::Hello& worker) {
  const Options& options = request.options;
  Report report;
  report.tool_version = tool_version;
  report.tool_commit = tool_commit;
  report.tool_build = tool_build;
  report.argv = request.argv;
  report.started = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  report.label = options.label;
  report.host = host_name();
  if (options.view != "rows") report.view = options.view;
  if (worker.device) report.device = *worker.device;
  report.measurement = measurement_of(options);
  report.measurement.method = worker.method;
  return report;
}

bool write_output(const Options& options, const std::string& format, const std::string& text) {
  const std::string file = options.output(format);
  if (file.empty()) return true;
  try {
    write_atomically(file, text);
    return true;
  } catch (const std::exception& error) {
    print_error("flashbench: {}\n", error.what());
    return false;
  }
}

bool write_outputs(const Report& report, const Options& options, bool wide,
                   const std::vector<Row>& more) {
  const TableOptions table{false, wide, options.pivot, options.view};
  bool all_written = true;
  for (const Format& format : formats()) {
    if (!options.outputs.contains(format.name)) continue;
    const bool whole = std::string_view(format.name) == "json";
    all_written &= write_output(options, format.name,
                                format.render(whole ? with_rows(report, more) : report, table));
  }
  return all_written;
}

void print_table(const Report& report, const Options& options, bool wide) {
  if (stdout_is_taken(options)) return;
  const TableOptions table{may_color_stdout(), wide, options.pivot, options.view};
  std::fputs(render_table(report, table).c_str(), stdout);
}

void print_explanations(const Report& report, const std::vector<Row>& rows,
                        const Options& options) {
  if (!options.explain) return;
  std::FILE* const stream = stdout_is_taken(options) ? stderr : stdout;
  for (const Row& row : rows) std::fputs(("\n" + explain(report, row)).c_str(), stream);
}

void print_profiled(const Report& report, const Options& options) {
  if (stdout_is_taken(options)) return;
  std::vector<std::vector<std::string>> lines{{"range", "status", "kernels"}};
  for (const Row& row : report.rows) {
    std::vector<std::string> kernels;
    for (const Launch& launch : row.launches) kernels.push_back(launch.kernel);
    const std::string ran = kernels.empty() ? missing : fmt::format("{}", fmt::join(kernels, ", "));
    lines.push_back({key(row.what), std::string(name(row.status)),
                     row.status == Status::ok ? ran : one_line(row.reason)});
  }
  fmt::print("One pass of each row ran for a profiler: nothing was timed or checked.\n\n{}",
             in_columns(lines));
}

void print_comparison(const Comparison& comparison, bool to_stdout, bool wide) {
  for (const std::string& warning : comparison.warnings)
    print_error("flashbench: warning: {}\n", as_utf8(one_line(warning)));
  std::fputs(render_comparison(comparison, to_stdout && may_color_stdout(), wide).c_str(),
             to_stdout ? stdout : stderr);
}

}  // namespace flashbench
