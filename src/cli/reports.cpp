// The commands that only read reports.
#include <fmt/format.h>

#include <cstdio>

#include "cli/commands.hpp"
#include "cli/common_options.hpp"
#include "cli/console.hpp"
#include "cli/output.hpp"
#include "cli/parser.hpp"
#include "compare/compare.hpp"
#include "compare/exit_code.hpp"
#include "plan/values.hpp"
#include "report/report.hpp"

namespace flashbench {

namespace {

std::vector<Option> compare_options(CompareOptions& o) {
  return {{"threshold", "P", "Options", "slower by more is exit 5: 5% or 0.05 [5%]", false,
           [&o](const auto& values) { o.threshold = parse_fraction(values[0]); }},
          flag_option("allow-different", "Options", "compare even across devices and inputs",
                      o.allow_different),
          flag_option("strict", "Options", "UNSURE and missing rows fail too", o.strict)};
}

struct ReportWords {
  Options options;
  bool wide = false;
};

Command report_command_of(ReportWords& words) {
  Command command{
      "report",
      "flashbench report FILE... [OPTIONS]",
      "Renders saved reports again: as a table, or in the formats asked for.",
      "  flashbench report r.json --pivot seq\n  flashbench report r.json --md table.md\n",
      "FILE",
      1,
      1000,
      {}};
  add_output_options(command.options, words.options, words.wide, "Options");
  return command;
}

}  // namespace

Command compare_help() {
  static CompareOptions unused;
  return {
      "compare",
      "flashbench compare BASE NEW [OPTIONS]",
      "Pairs the rows of two reports and judges each pair by the 95 % interval of the quotient\n"
      "of its median times: FASTER or SLOWER beyond the threshold and off 1, SAME wholly within\n"
      "the threshold, UNSURE else. A median that a report gives without an interval stands for\n"
      "both ends of one: between two of them the threshold alone decides, and n/a is shown.\n"
      "\n"
      "Reports of another device model, backend or way of measuring are not comparable, nor are\n"
      "rows of other inputs: another --init, or other values in the --load files.\n"
      "\n"
      "Exit code: 0 nothing slower (UNSURE included), 1 a row is broken that was not, 2 wrong\n"
      "words or files, 4 nothing was compared, 5 a row is slower, 6 not comparable.",
      "  flashbench compare before.json after.json --threshold 2%\n",
      "BASE or NEW",
      2,
      2,
      compare_options(unused)};
}

int compare_command(const Arguments& arguments) {
  CompareOptions options;
  Command command = compare_help();
  command.options = compare_options(options);
  const std::vector<std::string> files = parse_arguments(command, arguments);
  const Comparison comparison = compare_files(files[0], files[1], options);
  print_comparison(comparison, true);
  return comparison.exit_code;
}

Command report_help() {
  static ReportWords unused;
  return report_command_of(unused);
}

int report_command(const Arguments& arguments) {
  ReportWords words;
  const std::vector<std::string> files = parse_arguments(report_command_of(words), arguments);
  Options& o = words.options;
  std::vector<ReadFile> read;
  for (const std::string& file : files) read.push_back({"the report", file});
  check_outputs(o, read);
  const bool to_files =
      !o.json_file.empty() || !o.csv_file.empty() || !o.md_file.empty() || !o.junit_file.empty();
  if (to_files && files.size() > 1)
    throw UsageError("--json, --csv, --md and --junit take one report at a time");
  std::vector<Report> reports;
  for (const std::string& file : files) reports.push_back(read_report(file));
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (to_files)
      return write_outputs(reports[i], o, words.wide) ? exit_code::ok : exit_code::usage;
    if (files.size() > 1) fmt::print("{}{}\n", i ? "\n" : "", files[i]);
    print_table(reports[i], o, words.wide);
  }
  return exit_code::ok;
}

}  // namespace flashbench
