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

struct CompareWords {
  CompareOptions options;
  std::string json_file;
  bool wide = false;
};

std::vector<Option> compare_options(CompareWords& words) {
  CompareOptions& o = words.options;
  return {{"threshold", "P", "Options", "slower by more is exit 5: 5% or 0.05 [5%]", false,
           [&o](const auto& values) { o.threshold = parse_fraction(values[0]); }},
          flag_option("allow-different", "Options", "compare even across devices and inputs",
                      o.allow_different),
          flag_option("strict", "Options",
                      "fail unless every row of both is FASTER, SLOWER or SAME: UNSURE, lost,\n"
                      "gained, missing, new and not comparable rows are exit 1",
                      o.strict),
          file_option("json", "the comparison; - is stdout, and then nothing else is",
                      words.json_file, "Options"),
          flag_option("wide", "Options", "the rows' whole keys in the table too", words.wide)};
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
  static CompareWords unused;
  return {
      "compare",
      "flashbench compare BASE NEW [OPTIONS]",
      "Pairs the rows of two reports and judges each pair by the 95 % interval of the quotient\n"
      "of its median times: FASTER or SLOWER beyond the threshold and off 1, SAME wholly within\n"
      "the threshold, UNSURE else. A median without an interval (fewer than six samples have\n"
      "none) stands for both ends of one: between two of them the threshold alone decides, and\n"
      "n/a is shown. A row that only one of the two reports could measure is lost or gained; one\n"
      "that only one of them has at all is missing or new.\n"
      "\n"
      "Reports of another device model, backend or way of measuring are not comparable, nor are\n"
      "rows of other inputs: another --init, or other values in the --load files.\n"
      "\n"
      "Exit code: 0 nothing slower (UNSURE included), 1 a row is broken that was not or --strict\n"
      "fails, 2 wrong words or files, 4 nothing was compared, 5 a row is slower, 6 not comparable.",
      "  flashbench compare before.json after.json --threshold 2%\n",
      "BASE or NEW",
      2,
      2,
      compare_options(unused)};
}

int compare_command(const Arguments& arguments) {
  CompareWords words;
  Command command = compare_help();
  command.options = compare_options(words);
  const std::vector<std::string> files = parse_arguments(command, arguments);
  if (!words.json_file.empty()) check_writable(words.json_file);
  const Comparison comparison = compare_files(files[0], files[1], words.options);
  if (words.json_file != "-") print_comparison(comparison, true, words.wide);
  if (!words.json_file.empty()) save(words.json_file, comparison_text(comparison));
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
  check_outputs(o);
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
