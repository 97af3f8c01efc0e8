// flashbench claims: measures a fixed sweep, or takes a saved report's rows, and holds the source
// document's claims against them.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "cli/claims_sweep.hpp"
#include "cli/commands.hpp"
#include "cli/common_options.hpp"
#include "cli/console.hpp"
#include "cli/interruptible.hpp"
#include "cli/output.hpp"
#include "cli/parser.hpp"
#include "compare/exit_code.hpp"
#include "estimate/estimate.hpp"
#include "plan/values.hpp"
#include "report/claims.hpp"
#include "report/report.hpp"
#include "roster/guests.hpp"
#include "schedule/schedule.hpp"

namespace flashbench {

namespace {

struct ClaimsWords {
  Options options;
  bool device_given = false;
  std::optional<double> time_budget_s;
};

Command command_of(ClaimsWords& words) {
  Options& o = words.options;
  Option device = device_option(o.device, "Options");
  device.apply = [&words, apply = std::move(device.apply)](const auto& values) {
    words.device_given = true;
    apply(values);
  };
  return {
      "claims",
      "flashbench claims [REPORT] [OPTIONS]",
      "Holds each claim of the source document against measured rows: it holds here, does not\n"
      "hold here, or cannot be tested on this machine. Without REPORT it measures a fixed\n"
      "sweep, a minute or so: times, memory and errors on the device, counts on the CPU.\n"
      "With one it judges that report's rows and measures nothing.\n"
      "\n"
      "Exit code: 0 judged, whatever the verdicts; 1 a row failed, or with --strict a claim\n"
      "does not hold; 2 wrong words or files; 3 the device cannot be used; 4 there is no row to\n"
      "judge by.",
      "  flashbench claims\n  flashbench claims --device cpu --json claims.json\n"
      "  flashbench claims claims.json --strict\n",
      "REPORT",
      0,
      1,
      {device,
       {"time-budget", "S", "Options", "seconds a row [0.25; eight samples on the CPU]", false,
        [&words](const auto& values) { words.time_budget_s = parse_positive(values[0]); }},
       file_option("json", "rows and verdicts; - is stdout, and then nothing else is", o,
                   "Options"),
       file_option("md", "a Markdown table; likewise", o, "Options"),
       flag_option("strict", "Options", "a claim that does not hold is exit 1", o.strict)}};
}

ScheduleEvents events_for(Console& console) {
  ScheduleEvents events;
  events.progress = [&](const std::string& what, std::size_t done, std::size_t of, double left) {
    console.progress(what, done, of, left);
  };
  events.warning = [&](const std::string& sentence) { console.warn(sentence); };
  return events;
}

struct Measured {
  Report report;
  bool interrupted = false;
};

void add(Measured& measured, const UserRequest& request, const Roster& roster, Console& console) {
  const ScheduleResult result =
      run_plan(make_plan(request, roster), roster, request.options, events_for(console));
  if (result.failure) std::rethrow_exception(result.failure);
  Report& report = measured.report;
  for (const Row& row : result.rows)  // what an earlier sweep measured stands
    if (std::ranges::find(report.rows, row.what, &Row::what) == report.rows.end())
      report.rows.push_back(row);
  if (report.ceilings.empty()) report.ceilings = result.ceilings;
  if (report.measurement.timer.empty()) report.measurement = result.measurement;
  measured.interrupted = measured.interrupted || result.interrupted;
}

Roster roster_with_peers(const std::string& device, Console& console) {
  Roster roster = call_roster(device);
  for (const std::string& notice : roster.notices) console.warn(notice);
  invite(roster, {{}, {}, true});
  return roster;
}

// On a GPU machine the CPU counts what its kernels do: the algorithms are the same.
Measured measure(const Roster& roster, const Roster& counting, const ClaimsWords& words,
                 const Arguments& arguments, Console& console) {
  UserRequest request = claims_on_device(roster, words.time_budget_s);
  request.argv = {"flashbench", "claims"};
  request.argv.insert(request.argv.end(), arguments.begin(), arguments.end());
  Measured measured{blank_report(request, roster.workers.front().hello), false};
  measured.report.measurement = {};
  add(measured, request, roster, console);
  if (!measured.interrupted) add(measured, claims_at_few_heads(roster), roster, console);
  if (!measured.interrupted) add(measured, claims_by_counting(), counting, console);
  add_speedups(measured.report.rows);
  measured.report.complete = !measured.interrupted;
  return measured;
}

int conclude(const Measured& measured, const Options& options) {
  const Report& report = measured.report;
  const std::vector<JudgedClaim> judged = judge_claims(report);
  const bool written = write_output(options, "json", claims_text(report, judged)) &
                       write_output(options, "md", render_claims_markdown(report, judged));
  if (!stdout_is_taken(options))
    std::fputs(render_claims(report, judged, may_color_stdout()).c_str(), stdout);
  if (measured.interrupted)
    print_error("flashbench: interrupted: the claims are judged by the rows that had finished\n");
  std::vector<int> codes{exit_code_of_rows(report.rows, false)};
  if (!written) codes.push_back(exit_code::usage);
  if (measured.interrupted) codes.push_back(exit_code::interrupted);
  const bool refuted = std::ranges::any_of(judged, [](const JudgedClaim& each) {
    return each.finding.standing == Standing::does_not_hold;
  });
  if (options.strict && refuted) codes.push_back(exit_code::failed);
  return worst_exit_code(codes);
}

int measure_and_conclude(const ClaimsWords& words, const Arguments& arguments) {
  return interruptible([&] {
    Console console;
    const Roster roster = roster_with_peers(words.options.device, console);
    const Roster counting = roster.backend == Backend::cpu ? roster : call_roster("cpu");
    return conclude(measure(roster, counting, words, arguments, console), words.options);
  });
}

}  // namespace

std::string claims_help() {
  ClaimsWords unused;
  return help_of(command_of(unused));
}

int claims_command(const Arguments& arguments) {
  ClaimsWords words;
  const std::vector<std::string> files = parse_arguments(command_of(words), arguments);
  check_device_word(words.options.device);
  std::vector<ReadFile> read;
  for (const std::string& file : files) read.push_back({"the report", file});
  check_outputs(words.options, read);
  if (files.empty()) return measure_and_conclude(words, arguments);
  for (const auto& [name, given] : {std::pair("--device", words.device_given),
                                    std::pair("--time-budget", words.time_budget_s.has_value())})
    if (given)
      throw UsageError(std::string(name) +
                       " says nothing about a saved report: its rows are not measured again");
  return conclude({read_report(files[0]), false}, words.options);
}

}  // namespace flashbench
