// The commands that only read reports.
#include "cli/commands.hpp"
#include "cli/common_options.hpp"
#include "cli/console.hpp"
#include "cli/output.hpp"
#include "cli/parser.hpp"
#include "compare/compare.hpp"
#include "compare/exit_code.hpp"
#include "compare/merge.hpp"
#include "estimate/ladder.hpp"
#include "plan/glob.hpp"
#include "plan/values.hpp"
#include "report/report.hpp"

namespace flashbench {

namespace {

struct CompareWords {
  CompareOptions options;
  Options output;
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
          file_option("json", "the comparison; - is stdout, and then nothing else is", words.output,
                      "Options"),
          flag_option("wide", "Options", "the rows' whole keys in the table too", words.wide)};
}

Merged read_merged(const std::vector<std::string>& files) {
  std::vector<NamedReport> reports;
  for (const std::string& file : files) reports.push_back({file, read_report(file)});
  return merge(reports);
}

Report filtered(Report report, const std::string& filter) {
  if (!filter.empty())
    std::erase_if(report.rows,
                  [&](const Row& row) { return !glob_matches_components(filter, identity(row)); });
  return report;
}

struct ReportWords {
  Options options;
  bool wide = false;
};

Command report_command_of(ReportWords& words) {
  Options& o = words.options;
  Command command{
      "report",
      "flashbench report FILE... [OPTIONS]",
      "Renders saved reports again: as a table, or in the formats asked for. Several become one:\n"
      "a row that two of them hold is the later file's. Reports of different devices are refused\n"
      "(exit 6), or, with --allow-different, a column says which row is whose.",
      "  flashbench report r.json --pivot seq\n"
      "  flashbench report monday.json tuesday.json --md table.md\n"
      "  flashbench report r.json --explain --filter 'v2/fwd/*q4096*'\n",
      "FILE",
      1,
      1000,
      {}};
  command.options.push_back(filter_option(o.filter, "Options", "rows"));
  command.options.push_back(flag_option(
      "allow-different", "Options", "merge even across devices and methods", o.allow_different));
  add_output_options(command.options, o, words.wide, "Options");
  return command;
}

Command compare_command_of(CompareWords& words) {
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
      compare_options(words)};
}

}  // namespace

std::string compare_help() {
  CompareWords unused;
  return help_of(compare_command_of(unused));
}

int compare_command(const Arguments& arguments) {
  CompareWords words;
  const std::vector<std::string> files = parse_arguments(compare_command_of(words), arguments);
  check_outputs(words.output, {{"BASE", files[0]}, {"NEW", files[1]}});
  const Comparison comparison = compare_files(files[0], files[1], words.options);
  if (!stdout_is_taken(words.output)) print_comparison(comparison, true, words.wide);
  const bool written = write_output(words.output, "json", comparison_text(comparison));
  return written ? comparison.exit_code : exit_code::usage;
}

std::string report_help() {
  ReportWords unused;
  return help_of(report_command_of(unused));
}

int report_command(const Arguments& arguments) {
  ReportWords words;
  const std::vector<std::string> files = parse_arguments(report_command_of(words), arguments);
  const Options& o = words.options;
  std::vector<ReadFile> read;
  for (const std::string& file : files) read.push_back({"the report", file});
  check_outputs(o, read);
  Merged merged = read_merged(files);
  for (const std::string& notice : merged.notices) print_error("flashbench: {}\n", notice);
  for (const std::string& field : merged.differing) print_error("flashbench: {}\n", field);
  if (!merged.differing.empty() && !o.allow_different) {
    print_error("flashbench: these are not comparable; --allow-different shows them together\n");
    return exit_code::not_comparable;
  }
  if (files.size() > 1) {
    merged.report.argv = {"flashbench", "report"};
    merged.report.argv.insert(merged.report.argv.end(), arguments.begin(), arguments.end());
  }
  if (merged.differing.empty()) add_ladder(merged.report.rows);
  const Report shown = filtered(merged.report, o.filter);
  if (shown.rows.empty() && !merged.report.rows.empty()) {
    print_error("flashbench: 0 of {} rows matched --filter\n", merged.report.rows.size());
    return exit_code::nothing;
  }
  const bool written = write_outputs(shown, o, words.wide);
  if (o.outputs.empty()) print_table(shown, o, words.wide);
  print_explanations(merged.report, shown.rows, o);
  return written ? exit_code::ok : exit_code::usage;
}

}  // namespace flashbench
