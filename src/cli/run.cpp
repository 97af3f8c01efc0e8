#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/dry_run.hpp"
#include "cli/guests.hpp"
#include "cli/interruptible.hpp"
#include "cli/output.hpp"
#include "cli/places.hpp"
#include "cli/run_words.hpp"
#include "cli/saving.hpp"
#include "compare/compare.hpp"
#include "compare/exit_code.hpp"
#include "device/peaks.hpp"
#include "estimate/estimate.hpp"
#include "estimate/ladder.hpp"
#include "plan/plan.hpp"
#include "process/interrupt.hpp"
#include "report/report.hpp"
#include "roster/known.hpp"
#include "schedule/schedule.hpp"

namespace flashbench {

namespace {

int nothing_matched(const Plan& plan) {
  print_error("flashbench: 0 of {} cases matched --filter\n", plan.before_filter);
  return exit_code::nothing;
}

ScheduleEvents events_for(Console& console, Saving& saving) {
  ScheduleEvents events;
  events.row_counted = [&](const Row& row) {
    if (const std::string trouble = saving.row_finished(row); !trouble.empty())
      console.warn(trouble);
  };
  events.row_finished = [&console, keep = events.row_counted](const Row& row) {
    keep(row);
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
  Report report;            // without rows
  std::vector<Row> known;   // of --resume
  std::vector<Row> beside;  // of the same, but not of this sweep: they stay in --json
  std::vector<Ceiling> earlier_ceilings;
  std::optional<Report> baseline;
};

// Wrong words come before a device that cannot be used, as far as they are wrong without one.
Roster roster_for(const UserRequest& request) {
  std::string why;
  Roster roster = roster_or_known(request.options.device, request.options.timeout_s, &why);
  if (why.empty()) return roster;
  UserRequest nameless = request;
  for (Sweep& sweep : nameless.sweeps) sweep.impl.clear();
  make_plan(nameless, roster);
  throw DeviceError(why);
}

// A folder of --dump that --load reads would change under those who read it.
void keep_inputs(const Plan& plan, const Options& options) {
  if (options.dump_dir.empty() || options.load_dir.empty()) return;
  for (const Case& what : plan.cases)
    if (const auto folder = std::filesystem::path(options.dump_dir) / folder_name(what);
        are_one_file(folder.string(), options.load_dir))
      throw UsageError(
          fmt::format("--dump would write over the inputs of --load {}: choose another "
                      "folder for it",
                      options.load_dir));
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
  keep_inputs(ready.plan, options);
  if (options.check != Check::none) require_judge(ready.roster);
  ready.report = blank_report(words.request, ready.roster.workers.front().hello);
  if (!earlier) return ready;
  ready.known = resumable_rows(*earlier, ready.report);
  ready.earlier_ceilings = earlier->ceilings;
  if (are_one_file(options.output("json"), options.resume_file))
    ready.beside = rows_beside(ready.plan, *earlier);
  return ready;
}

void say_before(Console& console, const Preparation& ready, const Options& options) {
  for (const std::string& notice : ready.roster.notices) console.warn(notice);
  for (const std::string& notice : ready.plan.notices) console.warn(notice);
  if (!ready.beside.empty())
    console.warn(fmt::format("{} rows of {} are not in this sweep: they stay there as they are",
                             ready.beside.size(), options.resume_file));
}

void say_interrupted(Console& console, const Options& options) {
  const std::string file = options.output("json");
  console.warn(
      file.empty() || file == "-"
          ? "interrupted before every row had finished"
          : fmt::format("interrupted: the same options with --resume {} measure the rest", file));
}

struct Finished {
  Report report;
  std::exception_ptr failure;  // of ScheduleResult
};

Finished run(const Preparation& ready, const Options& options, Console& console, Saving& saving) {
  Report report = ready.report;
  report.rows = unfinished_rows(ready.plan, ready.known);
  saving.begin(with_rows(report, ready.beside));
  ScheduleResult result =
      run_plan(ready.plan, ready.roster, options, events_for(console, saving), ready.known);
  report.rows = std::move(result.rows);
  report.ceilings = std::move(result.ceilings);
  for (const Ceiling& earlier : ready.earlier_ceilings)
    if (std::ranges::find(report.ceilings, earlier.name, &Ceiling::name) == report.ceilings.end())
      report.ceilings.push_back(earlier);
  report.measurement = std::move(result.measurement);
  report.complete = !result.interrupted && !result.failure;
  add_speedups(report.rows);
  add_ladder(report.rows);
  return {std::move(report), result.failure};
}

int measure(const RunWords& words, const Preparation& ready, Saving& saving) {
  const Options& options = words.request.options;
  Console console;
  say_before(console, ready, options);
  const auto [report, failure] = run(ready, options, console, saving);
  std::vector<int> codes{exit_code_of_rows(report.rows, options.strict)};
  if (write_outputs(report, options, words.wide, ready.beside))
    saving.discard();
  else
    codes.push_back(exit_code::usage);
  if (options.profile)
    print_profiled(report, options);
  else
    print_table(report, options, words.wide);
  print_explanations(report, report.rows, options);
  if (failure) std::rethrow_exception(failure);
  if (interrupted()) {
    codes.push_back(exit_code::interrupted);
    say_interrupted(console, options);
  }
  if (ready.baseline)
    codes.push_back(compare_with(*ready.baseline, report, words.request, ready.roster));
  if (!options.against.empty() && options.check != Check::only)
    codes.push_back(compare_builds(report, ready.roster, options));
  return worst_exit_code(codes);
}

}  // namespace

int run_command(const Arguments& arguments) {
  const RunWords words = read_run_words(arguments);
  Saving saving(words.request.options);
  if (words.request.options.dry_run) return dry_run(words);
  return interruptible([&] {
    const Preparation ready = prepare(words);
    return ready.plan.cases.empty() ? nothing_matched(ready.plan) : measure(words, ready, saving);
  });
}

}  // namespace flashbench
