#include "cli/dry_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <unordered_set>

#include "cli/columns.hpp"
#include "cli/console.hpp"
#include "cli/guests.hpp"
#include "cli/output.hpp"
#include "cli/saving.hpp"
#include "compare/exit_code.hpp"
#include "plan/plan.hpp"
#include "report/grid.hpp"
#include "report/report.hpp"
#include "report/text.hpp"
#include "roster/describer.hpp"
#include "roster/known.hpp"

namespace flashbench {

namespace {

Row planned_row(const Case& what, Describer& describer) {
  Row row;
  row.what = what;
  row.flops = flops(what.problem, what.pass);
  row.reason = "dry run: nothing was measured";
  const Describer::Described answer = describer.ask(what);
  if (answer.status != Status::ok && answer.status != Status::not_run) {
    row.status = answer.status;
    row.reason = answer.reason;
  }
  if (answer.body) {
    row.cost = answer.body->cost;
    row.memory.workspace_bytes = answer.body->cost.workspace_bytes;
    row.memory.inputs_bytes = answer.body->inputs_bytes;
    row.memory.outputs_bytes = answer.body->outputs_bytes;
  }
  return row;
}

// Every input set, the outputs of each, and what the implementation needs beyond.
std::optional<double> memory_needed(const Row& row) {
  if (!row.memory.inputs_bytes || !row.memory.outputs_bytes) return std::nullopt;
  return input_sets * (static_cast<double>(*row.memory.inputs_bytes) +
                       static_cast<double>(*row.memory.outputs_bytes)) +
         static_cast<double>(row.memory.workspace_bytes.value_or(0));
}

// Seconds, to the order of magnitude: the time budget or the samples, and the check by the judge.
double seconds_expected(const Row& row, const Options& options) {
  if (row.status != Status::not_run) return 0;
  const bool gpu = row.what.backend == Backend::cuda;
  // FLOP/s and FLOPs, careful guesses; above `judged` the judge takes a sample.
  const double rate = gpu ? 2e14 : 5e10, judge_rate = gpu ? 4e11 : 5e9, judged = gpu ? 6e11 : 3e11;
  const double once = row.flops.exact / rate;
  const double samples = static_cast<double>(options.iters.value_or(options.min_samples));
  double seconds = options.iters ? samples * once : std::max(options.time_budget_s, samples * once);
  if (options.profile) return once;
  if (options.check == Check::only) seconds = 0;
  if (options.check != Check::none) seconds += 2 * std::min(row.flops.exact, judged) / judge_rate;
  return seconds;
}

// Rows that --resume has already, by key.
using Kept = std::unordered_set<std::string>;

std::string note_of(const Row& row, const Kept& kept) {
  if (kept.contains(key(row.what)))
    return row.what.problem.init == Init::loaded
               ? "finished before; kept if the files hold the same"
               : "finished before";
  return row.status == Status::not_run ? "" : fmt::format("{}: {}", name(row.status), row.reason);
}

// What is given always, and what rows differ in.
void add_axes(std::vector<Column>& columns, const Report& report) {
  static const std::set<std::string> always{"impl", "pass",  "batch",    "heads", "kv-heads",
                                            "seq",  "seq-k", "head-dim", "dtype", "mask"};
  for (const Axis& axis : axes()) {
    const bool differs =
        axis.name == "scale" ? !is_implied(axis, report) : !is_constant(axis, report);
    if (!always.contains(axis.name) && !differs) continue;
    Column& column = columns.emplace_back(Column{axis.heading, axis.number, {}});
    for (const Row& row : report.rows) column.cells.push_back(value_of(axis, row));
  }
}

// Heading and meaning: what table_of shows beside the axes.
constexpr const char* counted = "counted GFLOP";
constexpr const char* exact = "exact GFLOP";
constexpr const char* moved = "moved MB";
constexpr const char* memory = "memory MB";
constexpr const char* about = "about s";

std::string legend() {
  const std::vector<std::pair<const char*, const char*>> meanings{
      {counted,
       "1e9 operations by the field's convention, which gives the TFLOPS of a run: causal "
       "with seq = seq k counts half"},
      {exact, "1e9 operations of the query and key pairs that the mask lets through"},
      {moved, "1e6 bytes asked of memory in one pass, by the implementation's own model"},
      {memory,
       "1e6 bytes held at a time: two sets of inputs, the outputs of each, and the workspace"},
      {about, "seconds that the row would take, a rough guess"},
      {missing, "known to nobody here: the implementation could not be asked"}};
  std::vector<std::vector<std::string>> lines;
  for (const auto& [heading, meaning] : meanings) lines.push_back({heading, meaning});
  return in_columns(lines) + "The axes before them are options: flashbench --help explains each.\n";
}

std::string table_of(const Report& report, const Options& options, const Kept& kept) {
  std::vector<Column> columns;
  add_axes(columns, report);
  const auto add = [&](const char* heading, int decimals, const auto& value) {
    Column& column = columns.emplace_back(Column{heading, true, {}});
    for (const Row& row : report.rows)
      column.cells.push_back(fmt::format("{:.{}f}", value(row), decimals));
  };
  const auto seconds = [&](const Row& row) {
    return kept.contains(key(row.what)) ? 0 : seconds_expected(row, options);
  };
  add(counted, 3, [](const Row& row) { return row.flops.counted / 1e9; });
  add(exact, 3, [](const Row& row) { return row.flops.exact / 1e9; });
  const auto add_megabytes = [&](const char* heading, const auto& bytes) {
    Column& column = columns.emplace_back(Column{heading, true, {}});
    for (const Row& row : report.rows) {
      const std::optional<double> known = bytes(row);
      column.cells.push_back(known ? fmt::format("{:.2f}", *known / 1e6) : missing);
    }
  };
  add_megabytes(moved, [](const Row& row) { return modelled_bytes(row); });
  add_megabytes(memory, memory_needed);
  add(about, 1, seconds);
  Column& notes = columns.emplace_back();
  for (const Row& row : report.rows) notes.cells.push_back(one_line(note_of(row, kept)));
  std::string text;
  for (const std::string& line : aligned(columns)) text += line + "\n";
  double total = 0;
  for (const Row& row : report.rows) total += seconds(row);
  return text +
         fmt::format("\n{} cases, about {:.0f} s in all. What the columns mean:\n",
                     report.rows.size(), total) +
         legend();
}

std::string planned_by(const Roster& roster) {
  const std::string& device = roster.workers.front().hello.stand_in;
  return device.empty() ? "planning without its worker, which alone knows the costs"
                        : fmt::format("the costs shown are those on an {} instead", device);
}

// The files that a run would read, read as it would. Without a device nobody knows whether an
// earlier report is of the same one.
Kept check_files(const Options& options, const Report& plan, bool device_known) {
  if (!options.baseline_file.empty()) read_report(options.baseline_file);
  const std::optional<Report> earlier = report_to_resume(options);
  Kept kept;
  if (earlier && device_known)
    for (const Row& row : resumable_rows(*earlier, plan)) kept.insert(key(row.what));
  return kept;
}

}  // namespace

int dry_run(const RunWords& words) {
  const Options& options = words.request.options;
  std::string why;
  Roster roster = roster_or_known(options.device, options.timeout_s, &why);
  if (why.empty())
    invite_guests(roster, words.request);
  else
    know_guests(roster, words.request, why);
  for (const std::string& notice : roster.notices) print_error("flashbench: {}\n", notice);
  if (!why.empty()) print_error("flashbench: {}; {}\n", why, planned_by(roster));
  const Plan plan = make_plan(words.request, roster);
  for (const std::string& notice : plan.notices) print_error("flashbench: {}\n", notice);
  Report report = blank_report(words.request, roster.workers.front().hello);
  report.device.backend = roster.backend;
  const Kept kept = check_files(options, report, why.empty());
  if (plan.cases.empty()) {
    print_error("flashbench: 0 of {} cases matched --filter\n", plan.before_filter);
    return exit_code::nothing;
  }
  Describer describer(roster, options.timeout_s);
  for (const Case& what : plan.cases) report.rows.push_back(planned_row(what, describer));
  const bool written = write_outputs(report, options, words.wide);
  if (!stdout_is_taken(options)) std::fputs(table_of(report, options, kept).c_str(), stdout);
  print_explanations(report, report.rows, options);
  return written ? exit_code::ok : exit_code::usage;
}

}  // namespace flashbench
