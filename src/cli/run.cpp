#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/dry_run.hpp"
#include "cli/guests.hpp"
#include "cli/known_roster.hpp"
#include "cli/output.hpp"
#include "cli/run_words.hpp"
#include "cli/saving.hpp"
#include "compare/compare.hpp"
#include "compare/exit_code.hpp"
#include "device/peaks.hpp"
#include "estimate/estimate.hpp"
#include "plan/plan.hpp"
#include "report/report.hpp"
#include "schedule/schedule.hpp"

namespace flashbench {

namespace {

int nothing_matched(const Plan& plan) {
  print_error("flashbench: 0 of {} cases matched --filter\n", plan.before_filter);
  return exit_code::nothing;
}

ScheduleEvents events_for(Console& console, Saving& saving) {
  ScheduleEvents events;
  events.row_finished = [&](const Row& row) {
    if (const std::string trouble = saving.row_finished(row); !trouble.empty())
      console.warn(trouble);
    console.note(row_note(row));
  };
  events.progress = [&](const std::string& what, std::size_t done, std::size_t of, double left) {
    console.progress(what, done, of, left);
  };
  events.warning = [&](const std::string& sentence) { console.warn(sentence); };
  return events;
}

// A threshold that a config set for one sweep holds for that sweep's rows.
std::map<std::string, double> thresholds_of(const UserRequest& request, const Roster& roster) {
  std::map<std::string, double> thresholds;
  for (const Sweep& sweep : request.sweeps) {
    if (!sweep.threshold || !is_for(sweep, roster.backend)) continue;
    UserRequest one = request;
    one.sweeps = {sweep};
    for (const Case& what : make_plan(one, roster).cases) thresholds[key(what)] = *sweep.threshold;
  }
  return thresholds;
}

int compare_with(const Report& baseline, const Report& report, const UserRequest& request,
                 const Roster& roster) {
  const Options& options = request.options;
  CompareOptions how;
  if (options.threshold)
    how.threshold = *options.threshold;
  else
    how.thresholds = thresholds_of(request, roster);
  how.allow_different = options.allow_different;
  how.strict = options.strict;
  const Comparison comparison = compare(baseline, report, how);
  if (!stdout_is_taken(options)) fmt::print("\n");
  print_comparison(comparison, !stdout_is_taken(options));
  return comparison.exit_code;
}

struct Preparation {
  Roster roster;
  Plan plan;
  Report report;           // without rows
  std::vector<Row> known;  // of --resume
  std::vector<Ceiling> earlier_ceilings;
  std::optional<Report> baseline;
};

// Wrong words come before a device that cannot be used, as far as they are wrong without one.
Roster roster_for(const UserRequest& request) {
  std::string why;
  Roster roster = roster_or_known(request.options.device, &why);
  if (why.empty()) return roster;
  UserRequest nameless = request;
  for (Sweep& sweep : nameless.sweeps) sweep.impl.clear();
  make_plan(nameless, roster);
  throw DeviceError(why);
}

Preparation prepare(const RunWords& words) {
  const Options& options = words.request.options;
  Preparation ready;
  if (!options.baseline_file.empty()) ready.baseline = read_report(options.baseline_file);
  const std::optional<Report> earlier = report_to_resume(options);
  ready.roster = roster_for(words.request);
  invite_guests(ready.roster, words.request);
  for (WorkerFacts& worker : ready.roster.workers)
    if (worker.hello.device) apply_peak(*worker.hello.device, options.peak_tflops);
  ready.plan = make_plan(words.request, ready.roster);
  ready.report = blank_report(words.request, ready.roster.workers.front().hello);
  if (!earlier) return ready;
  ready.known = resumable_rows(*earlier, ready.report);
  ready.earlier_ceilings = earlier->ceilings;
  return ready;
}

int measure(const RunWords& words, const Preparation& ready) {
  const Options& options = words.request.options;
  Console console;
  for (const std::string& notice : ready.roster.notices) console.warn(notice);
  Report report = ready.report;
  report.rows = unfinished_rows(ready.plan, ready.known);
  Saving saving(options, report);

  ScheduleResult result =
      run_plan(ready.plan, ready.roster, options, events_for(console, saving), ready.known);
  report.rows = std::move(result.rows);
  report.ceilings = std::move(result.ceilings);
  for (const Ceiling& earlier : ready.earlier_ceilings)
    if (std::ranges::find(report.ceilings, earlier.name, &Ceiling::name) == report.ceilings.end())
      report.ceilings.push_back(earlier);
  report.measurement = std::move(result.measurement);
  report.complete = !result.interrupted;
  add_speedups(report.rows);

  std::vector<int> codes{exit_code_of_rows(report.rows, options.strict)};
  if (write_outputs(report, options, words.wide))
    saving.discard();
  else
    codes.push_back(exit_code::usage);
  print_table(report, options, words.wide);
  if (result.interrupted) codes.push_back(exit_code::interrupted);
  if (ready.baseline)
    codes.push_back(compare_with(*ready.baseline, report, words.request, ready.roster));
  if (!options.against.empty() && options.check != Check::only)
    codes.push_back(compare_builds(report, ready.roster, options));
  return worst_exit_code(codes);
}

}  // namespace

int run_command(const Arguments& arguments) {
  const RunWords words = read_run_words(arguments);
  if (words.request.options.dry_run) return dry_run(words);
  const Preparation ready = prepare(words);
  if (ready.plan.cases.empty()) return nothing_matched(ready.plan);
  return measure(words, ready);
}

}  // namespace flashbench
