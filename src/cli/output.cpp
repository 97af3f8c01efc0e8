#include "cli/output.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <ctime>

#include "cli/console.hpp"
#include "record/json.hpp"
#include "report/report.hpp"
#include "report/text.hpp"
#include "version.hpp"

namespace flashbench {

namespace {

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::string_view check_word(Check check) {
  switch (check) {
    case Check::full:
      return "full";
    case Check::only:
      return "only";
    case Check::none:
      return "none";
  }
  return "";
}

}  // namespace

bool stdout_is_taken(const Options& options) {
  return options.json_file == "-" || options.csv_file == "-" || options.md_file == "-" ||
         options.junit_file == "-";
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
  if (worker.device) report.device = *worker.device;
  report.measurement.method = worker.method;
  report.measurement.precision = options.precision;
  report.measurement.time_budget_s = options.time_budget_s;
  report.measurement.min_samples = options.min_samples;
  report.measurement.iters = options.iters;
  report.measurement.warmup = options.warmup;
  report.measurement.seed = options.seed;
  report.measurement.check = check_word(options.check);
  return report;
}

bool write_outputs(const Report& report, const Options& options, bool wide) {
  const TableOptions table{false, wide, options.pivot};
  bool all_written = true;
  const auto write = [&](const std::string& file, const auto& render) {
    if (file.empty()) return;
    try {
      write_atomically(file, render());
    } catch (const std::exception& error) {
      print_error("flashbench: {}\n", error.what());
      all_written = false;
    }
  };
  write(options.json_file, [&] { return report_text(report); });
  write(options.csv_file, [&] { return render_csv(report); });
  write(options.md_file, [&] { return render_markdown(report, table); });
  write(options.junit_file, [&] { return render_junit(report); });
  return all_written;
}

void print_table(const Report& report, const Options& options, bool wide) {
  if (stdout_is_taken(options)) return;
  const TableOptions table{may_color_stdout(), wide, options.pivot};
  std::fputs(render_table(report, table).c_str(), stdout);
}

void save(const std::string& file, const std::string& text) {
  try {
    write_atomically(file, text);
  } catch (const std::exception& error) {
    throw UsageError(error.what());
  }
}

void print_comparison(const Comparison& comparison, bool to_stdout, bool wide) {
  for (const std::string& warning : comparison.warnings)
    print_error("flashbench: warning: {}\n", as_utf8(one_line(warning)));
  std::fputs(render_comparison(comparison, to_stdout && may_color_stdout(), wide).c_str(),
             to_stdout ? stdout : stderr);
}

}  // namespace flashbench
