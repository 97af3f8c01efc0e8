// flashbench selftest: runs a plugin of planted faults like any other and expects that none gets
// through.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "cli/columns.hpp"
#include "cli/commands.hpp"
#include "cli/common_options.hpp"
#include "cli/console.hpp"
#include "cli/interruptible.hpp"
#include "cli/parser.hpp"
#include "compare/exit_code.hpp"
#include "roster/greet.hpp"
#include "roster/guests.hpp"
#include "schedule/schedule.hpp"

namespace flashbench {

namespace {

constexpr const char* healthy = "healthy";  // the one implementation that has to pass

struct SelftestWords {
  std::string device = "auto", plugin;
};

Command command_of(SelftestWords& words) {
  return {
      "selftest",
      "flashbench selftest [OPTIONS]",
      "Plants known faults into a working implementation and shows that each is caught, and by\n"
      "what; the same implementation without a fault has to pass. A fault that is missed is\n"
      "exit 1.",
      "  flashbench selftest --device cpu\n",
      "",
      0,
      0,
      {device_option(words.device, "Options"),
       {"plugin", "FILE", "Options",
        "faults of your own: each implementation of the plugin has to be caught, but\n"
        "one called healthy",
        false, [&words](const auto& values) { words.plugin = values[0]; }}}};
}

std::string faults_of(const SelftestWords& words, Backend backend) {
  if (!words.plugin.empty()) return words.plugin;
  const std::string library = fmt::format("flashbench-faults-{}.so", name(backend));
  const std::vector<std::string> folders = program_folders();
  const std::string path = find_library(library, folders);
  if (path.empty())
    throw UsageError(fmt::format("{} is not in {}", library, fmt::join(folders, " or ")));
  return path;
}

// Large enough for faults that only late rows show; more than one batch, head and tile.
Plan plan_of(const WorkerFacts& worker) {
  Plan plan;
  for (const Mask mask : {Mask::full, Mask::causal})
    for (const ImplementationFacts& facts : worker.hello.implementations) {
      Case what;
      what.impl = facts.name;
      what.source = worker.source;
      what.backend = worker.backend;
      what.problem = {2, 2, 1, 1024, 1024, 64};
      what.problem.dtype = Dtype::fp16;
      what.problem.mask = mask;
      what.problem.scale = 0.125;
      plan.cases.push_back(std::move(what));
    }
  plan.before_filter = plan.cases.size();
  return plan;
}

// Which guard stopped the row; empty: none did.
std::string caught_by(const Row& row) {
  if (row.status == Status::crashed) return "crash";
  if (row.status == Status::timeout) return "time-out";
  if (row.status != Status::failed) return {};
  for (const TensorCheck& check : row.numerics)
    if (check.verdict == Verdict::fail) return "check of " + check.tensor;
  if (row.reason.find("was overwritten") != row.reason.npos) return "guard band";
  if (row.reason.find("two forward runs") != row.reason.npos) return "repeated run";
  if (row.reason.find("than the one that was judged") != row.reason.npos) return "hash of a turn";
  if (row.reason.find("left its outputs as they were") != row.reason.npos) return "timed sample";
  return "worker";
}

struct Verdicts {
  std::vector<std::vector<std::string>> lines{{"fault", "mask", "caught by", "how"}};
  std::map<std::string, bool> met;  // implementations that some mask showed
  std::size_t missed = 0;

  void add(const Row& row) {
    if (row.status == Status::not_run) return;  // interrupted
    const std::string& fault = row.what.impl;
    met[fault] = met[fault] || row.status != Status::unsupported;
    if (row.status == Status::unsupported) return;
    const bool well = fault == healthy;
    const std::string by = caught_by(row);
    const bool right = well ? row.status == Status::ok : !by.empty();
    missed += right ? 0 : 1;
    lines.push_back(
        {fault, std::string(name(row.what.problem.mask)),
         well ? (right ? "none: passes" : "ALARM WITHOUT A FAULT") : (right ? by : "MISSED"),
         row.reason.empty() ? std::string(name(row.status)) : row.reason});
  }
};

int conclude(const Verdicts& verdicts, bool interrupted) {
  std::fputs(in_columns(verdicts.lines).c_str(), stdout);
  if (interrupted) {
    fmt::print("\ninterrupted: incomplete, {} of the rows above are wrong\n", verdicts.missed);
    return exit_code::interrupted;
  }
  std::vector<std::string> untried;
  for (const auto& [fault, met] : verdicts.met)
    if (!met) untried.push_back(fault);
  const auto faults = verdicts.met.size() - verdicts.met.count(healthy);
  if (!untried.empty())
    fmt::print("\nnot tried, because no mask showed them: {}\n", fmt::join(untried, ", "));
  if (verdicts.missed > 0 || !untried.empty()) {
    fmt::print("\n{} of the rows above are wrong: the checks cannot be trusted here\n",
               verdicts.missed + untried.size());
    return exit_code::failed;
  }
  fmt::print("\nall {} faults were caught\n", faults);
  return exit_code::ok;
}

int plant_and_conclude(const SelftestWords& words) {
  Console console;
  Roster roster = call_roster(words.device);
  for (const std::string& notice : roster.notices) console.warn(notice);
  require_judge(roster);
  invite(roster, {{faults_of(words, roster.backend)}, {}, false, default_timeout_s});
  Options options;
  options.device = words.device;
  options.iters = 40;  // launches that are skipped show by chance: soon, but not in the first few
  ScheduleEvents events;
  events.progress = [&](const std::string& what, std::size_t done, std::size_t of, double left) {
    console.progress(what, done, of, left);
  };
  events.warning = [&](const std::string& sentence) { console.warn(sentence); };
  const ScheduleResult result = run_plan(plan_of(roster.workers.back()), roster, options, events);
  if (result.failure) std::rethrow_exception(result.failure);
  Verdicts verdicts;
  for (const Row& row : result.rows) verdicts.add(row);
  return conclude(verdicts, result.interrupted);
}

}  // namespace

std::string selftest_help() {
  SelftestWords unused;
  return help_of(command_of(unused));
}

int selftest_command(const Arguments& arguments) {
  SelftestWords words;
  parse_arguments(command_of(words), arguments);
  check_device_word(words.device);
  return interruptible([&] { return plant_and_conclude(words); });
}

}  // namespace flashbench
