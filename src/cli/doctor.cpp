// flashbench doctor: measures a built-in implementation against itself, over and over. What differs
// then is the machine's doing, and no smaller difference between two implementations can be told.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <thread>

#include "cli/columns.hpp"
#include "cli/commands.hpp"
#include "cli/common_options.hpp"
#include "cli/console.hpp"
#include "cli/interruptible.hpp"
#include "cli/output.hpp"
#include "cli/parser.hpp"
#include "compare/exit_code.hpp"
#include "doctor/machine.hpp"
#include "doctor/resolution.hpp"
#include "plan/values.hpp"
#include "process/interrupt.hpp"
#include "process/link.hpp"
#include "report/report.hpp"
#include "report/text.hpp"
#include "schedule/schedule.hpp"

namespace flashbench {

namespace {

// The second row of the same code is that of a second worker, as another build's would be: so it is
// with --against, and two rows of one worker need two names.
constexpr const char* twin = "twin";

struct DoctorWords {
  Options options;
  std::int64_t repeats = 5;
};

Command command_of(DoctorWords& words) {
  return {
      "doctor",
      "flashbench doctor [OPTIONS]",
      "Shows how small a difference this machine can resolve today: times a short and a long row\n"
      "of a built-in implementation against itself, several times, and what stands in the way.\n"
      "Takes up to 4 x repeats x time budget: 20 s, less where the rows are soon precise.",
      "  flashbench doctor --device cpu\n",
      "",
      0,
      0,
      {device_option(words.options.device, "Options"),
       {"repeats", "N", "Options", "runs, one after the other; at least 2 [5]", false,
        [&words](const auto& values) { words.repeats = parse_integer(values[0], 2); }},
       {"time-budget", "S", "Options", "seconds a row, as in run [1]", false,
        [&words](const auto& values) { words.options.time_budget_s = parse_positive(values[0]); }},
       file_option("json", "the findings; - is stdout, and then nothing else is", words.options,
                   "Options")}};
}

// Not measured beside the rows: a floor is not asked for.
Roster roster_with_twin(const std::string& device) {
  Roster roster = call_roster(device);
  roster.workers.front().hello.ceilings.clear();
  roster.workers.push_back(roster.workers.front());
  roster.workers.back().source = twin;
  return roster;
}

std::string implementation_of(const Roster& roster) {
  const auto& all = roster.workers.front().hello.implementations;
  const bool has_v2 = std::ranges::find(all, "v2", &ImplementationFacts::name) != all.end();
  if (all.empty()) throw DeviceError("the worker has no implementation to measure");
  return has_v2 ? "v2" : all.front().name;
}

Case case_of(const Roster& roster, bool is_long) {
  const bool gpu = roster.backend == Backend::cuda;
  Case what;
  what.impl = implementation_of(roster);
  what.backend = roster.backend;
  Problem& p = what.problem;
  p.heads = p.kv_heads = gpu ? 16 : 1;
  p.seq_q = p.seq_k = gpu ? (is_long ? 16384 : 512) : (is_long ? 1024 : 128);
  p.dtype = gpu ? Dtype::fp16 : Dtype::fp32;
  p.scale = 1 / std::sqrt(static_cast<double>(p.head_dim));
  return what;
}

Plan plan_of(const Roster& roster) {
  Plan plan;
  for (const bool is_long : {false, true})
    for (const char* source : {"built-in", twin}) {
      plan.cases.push_back(case_of(roster, is_long));
      plan.cases.back().source = source;
    }
  plan.before_filter = plan.cases.size();
  return plan;
}

// What a sample of the short row costs beside its own time: on a GPU what the CPU needs to enqueue
// it, on the CPU what passes between two samples.
std::optional<double> launch_gap_us(const Roster& roster) try {
  const Case what = case_of(roster, false);
  WorkerLink worker = link_to(roster.workers.front(), default_timeout_s);
  const Reply prepared = worker.ask(request::Prepare{what.problem, what.pass, {{1, ""}, {2, ""}}});
  if (prepared.status != Status::ok) return std::nullopt;
  const Reply reply = worker.ask(request::Run{what.impl, what.pass, {}, 200, Cache::warm, 0});
  worker.leave();
  if (reply.status != Status::ok) return std::nullopt;
  const auto& run = body_of<reply::Run>(reply);
  double gaps_ms = roster.backend == Backend::cuda ? run.enqueue_ms : run.wall_ms;
  if (roster.backend == Backend::cpu)
    for (const Sample& sample : run.samples) gaps_ms -= sample.ms;
  return 1e3 * gaps_ms / static_cast<double>(run.samples.size());
} catch (const Interrupted&) {
  return std::nullopt;
}

MachineState machine_before() {
  MachineState machine = read_machine();
  const auto before = read_cpu_times();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const auto after = read_cpu_times();
  if (before && after) machine.busy = busy_share(*before, *after);
  return machine;
}

struct Repeats {
  std::vector<Row> rows;  // of all repeats, each in the plan's order
  bool interrupted = false;
};

Repeats measure(const DoctorWords& words, const Roster& roster) {
  Console console;
  for (const std::string& notice : roster.notices) console.warn(notice);
  Options options = words.options;
  options.check = Check::none;  // the same code twice: its numbers are not the question
  const Plan plan = plan_of(roster);
  Repeats measured;
  for (std::int64_t i = 0; i < words.repeats && !measured.interrupted; ++i) {
    ScheduleEvents events;
    events.progress = [&](const std::string& what, std::size_t done, std::size_t of, double) {
      const auto before = static_cast<std::size_t>(i) * of;
      console.progress(what, before + done, static_cast<std::size_t>(words.repeats) * of, -1);
    };
    events.warning = [&](const std::string& sentence) { console.warn(sentence); };
    ScheduleResult result = run_plan(plan, roster, options, events);
    if (result.failure) std::rethrow_exception(result.failure);
    measured.interrupted = result.interrupted;
    std::ranges::move(result.rows, std::back_inserter(measured.rows));
  }
  return measured;
}

std::vector<Twins> twins_of(const std::vector<Row>& rows, bool is_long) {
  std::vector<Twins> twins;
  for (std::size_t i = is_long ? 2 : 0; i + 1 < rows.size(); i += 4)
    twins.push_back({rows[i], rows[i + 1]});
  return twins;
}

Diagnosis diagnosis_of(const DoctorWords& words, const Roster& roster, const MachineState& machine,
                       const std::vector<Row>& rows) {
  Diagnosis diagnosis;
  if (const auto& device = roster.workers.front().hello.device) diagnosis.device = *device;
  diagnosis.device.backend = roster.backend;
  diagnosis.impl = implementation_of(roster);
  diagnosis.repeats = words.repeats;
  diagnosis.time_budget_s = words.options.time_budget_s;
  diagnosis.machine = machine;
  std::vector<double> times;
  for (const Row& row : rows)
    if (row.time)
      for (const Sample& sample : row.time->samples) times.push_back(sample.ms);
  if (const auto step = smallest_step(std::move(times))) diagnosis.timer_step_us = 1e3 * *step;
  for (const bool is_long : {false, true})
    diagnosis.rows.push_back(resolution_of(is_long ? "long" : "short", twins_of(rows, is_long)));
  return diagnosis;
}

std::string percent(const std::optional<double>& part) {
  return part ? fmt::format("{:.2f}", 100 * *part) : "n/a";
}

std::string table_of(const Diagnosis& diagnosis) {
  std::vector<std::vector<std::string>> lines{{"row", "shape", "time ms", "± %", "samples",
                                               "same rounds: apart by %", "resolves %",
                                               "other runs: apart by %", "resolves %"}};
  for (const Resolution& row : diagnosis.rows) {
    const Problem& p = row.what.problem;
    lines.push_back(
        {row.name,
         fmt::format("b{} h{} s{} d{} {}", p.batch, p.heads, p.seq_q, p.head_dim, name(p.dtype)),
         row.median_ms ? fmt::format("{:.4g}", *row.median_ms) : "n/a", percent(row.half_width),
         std::to_string(row.least_samples), percent(row.same_rounds.largest),
         percent(row.same_rounds.resolved), percent(row.other_runs.largest),
         percent(row.other_runs.resolved)});
  }
  return in_columns(lines, {false, false, true, true, true, true, true, true, true});
}

std::string facts_of(const Diagnosis& diagnosis) {
  std::vector<std::vector<std::string>> lines;
  const auto add = [&](const std::string& what, const std::optional<double>& value, double unit,
                       const std::string& unit_name) {
    lines.push_back(
        {what, value ? fmt::format("{:.3g}{}", *value * unit, unit_name) : std::string("n/a")});
  };
  const MachineState& machine = diagnosis.machine;
  add("timer step, at most", diagnosis.timer_step_us, 1, " us");
  add("launch gap", diagnosis.launch_gap_us, 1, " us");
  add("load average", machine.load, 1, fmt::format(" on {} CPUs", machine.cpus));
  add("busy before measuring", machine.busy, 100, " %");
  add("taken by the host", machine.stolen, 100, " %");
  add("CPUs allowed by the control group", machine.cpu_quota, 1, "");
  lines.push_back({"governor", machine.governor.empty() ? "n/a" : machine.governor});
  lines.push_back({"turbo", machine.turbo ? *machine.turbo ? "on" : "off" : "n/a"});
  add("CPU clock now", machine.clock_mhz, 1e-3, " GHz");
  add("CPU clock at most", machine.highest_clock_mhz, 1e-3, " GHz");
  if (diagnosis.device.backend != Backend::cuda) return in_columns(lines);
  add("GPU power limit", diagnosis.device.power_limit_w, 1, " W");
  add("GPU clock at most", diagnosis.device.clock_mhz, 1e-3, " GHz");
  for (const Resolution& row : diagnosis.rows) {
    add(fmt::format("GPU clock, {} row", row.name), row.clock_mhz, 1e-3, " GHz");
    const bool contended = std::ranges::find(row.flags, "contended") != row.flags.end();
    lines.push_back(
        {fmt::format("other processes on the GPU, {} row", row.name), !row.clock_mhz ? "n/a"
                                                                      : contended    ? "seen"
                                                                                  : "none seen"});
  }
  return in_columns(lines);
}

std::string text_of(const Diagnosis& diagnosis) {
  std::string text = fmt::format("{}\n{} against itself: {} runs, --time-budget {:g}\n\n{}\n",
                                 diagnosis.device.name, diagnosis.impl, diagnosis.repeats,
                                 diagnosis.time_budget_s, table_of(diagnosis));
  text +=
      "apart by: the largest difference of two medians of the same code; resolves: from that\n"
      "difference on every pair would have been told apart, in the same rounds (speed-ups,\n"
      "--against) and in runs one after the other (compare, --baseline)\n\n";
  text += facts_of(diagnosis) + "\n";
  if (diagnosis.advice.empty()) text += "nothing was found that stands in the way of measuring\n";
  for (const std::string& sentence : diagnosis.advice)
    text += wrapped("- " + one_line(sentence), text_width) + "\n";
  return as_utf8(text);
}

int measure_and_conclude(const DoctorWords& words) {
  const Roster roster = roster_with_twin(words.options.device);
  MachineState machine = machine_before();
  const auto before = read_cpu_times();
  const Repeats measured = measure(words, roster);
  const auto after = read_cpu_times();
  if (before && after) machine.stolen = stolen_share(*before, *after);
  for (const Row& row : measured.rows)
    if (row.status != Status::ok && row.status != Status::not_run)
      print_error("flashbench: {}: {}\n", name(row.status), row.reason);
  Diagnosis diagnosis = diagnosis_of(words, roster, machine, measured.rows);
  if (!measured.interrupted) diagnosis.launch_gap_us = launch_gap_us(roster);
  diagnosis.complete = !interrupted();
  diagnosis.advice = advice_on(diagnosis);
  if (!diagnosis.complete)
    print_error("flashbench: interrupted: the findings are incomplete, of what had finished\n");
  if (!stdout_is_taken(words.options)) std::fputs(text_of(diagnosis).c_str(), stdout);
  const bool written = write_output(words.options, "json", diagnosis_text(diagnosis));
  if (!diagnosis.complete) return exit_code::interrupted;
  return written ? exit_code_of_rows(measured.rows, false) : exit_code::usage;
}

}  // namespace

std::string doctor_help() {
  DoctorWords unused;
  return help_of(command_of(unused));
}

int doctor_command(const Arguments& arguments) {
  DoctorWords words;
  parse_arguments(command_of(words), arguments);
  check_device_word(words.options.device);
  check_outputs(words.options, {});
  return interruptible([&] { return measure_and_conclude(words); });
}

}  // namespace flashbench
