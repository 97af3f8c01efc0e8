#include "schedule/row_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "estimate/estimate.hpp"

namespace flashbench {

namespace {

// A GPU held down by its power limit changes its clock by several percent, for a tenth of a second
// at a time. Turns are shorter, so that each row meets as much of that as the others, but longer
// where they would be spent on the untimed run that opens them.
constexpr double short_turn_ms = 25, longest_turn_ms = 100, samples_a_turn = 4;
// However precise the first turns look: a row that has not met the others' heat knows nothing.
constexpr int least_turns = 8;

// Of a turn: its answer has to fit into one line.
constexpr double most_samples = 10000;

// A second's work of a thread or multiprocessor that is still waited for: a sixth or less of what
// any implementation does on a thread of a Xeon, since others may use the machine too, and a turn
// begins with up to four passes before its first sign.
constexpr double slow_flops = 2e9, slow_exponentials = 5e7;

double mean_ms(const RowRun& run) {
  double sum = 0;
  for (const Sample& sample : run.samples) sum += sample.ms;
  return sum / static_cast<double>(run.samples.size());
}

double turn_ms(const RowRun& run, const Options& options) {
  const double few = run.samples.empty() ? 0 : samples_a_turn * mean_ms(run);
  return std::clamp(options.time_budget_s * 1000 / least_turns, 1.0,
                    std::clamp(few, short_turn_ms, longest_turn_ms));
}

// Of an exact count, as many as fill a turn.
std::int64_t next_count(const RowRun& run, std::int64_t wanted, const Options& options) {
  const std::int64_t left = wanted - static_cast<std::int64_t>(run.samples.size());
  if (run.samples.empty()) return std::min<std::int64_t>(left, 1);
  const double fitting =
      std::clamp(turn_ms(run, options) / std::max(mean_ms(run), 1e-6), 1.0, most_samples);
  return std::min(left, static_cast<std::int64_t>(fitting));
}

// A worker that has prepared dO for others, "q-k-v-do", says so; a forward reads "q-k-v".
std::string of_forward(const std::string& checksum) {
  std::size_t end = 0;
  for (int tensor = 0; tensor < 3 && end != checksum.npos; ++tensor)
    end = checksum.find('-', tensor == 0 ? 0 : end + 1);
  return checksum.substr(0, end);
}

// Gradients may be summed up in any order, unless --deterministic asks for one.
bool may_differ(const Case& what) {
  return what.pass != Pass::fwd && !what.problem.deterministic;
}

// Why the output that a turn left for an input set disqualifies the row; empty: it does not. Where
// no output of this set was written before (--no-check), the first turn's sets the mark. Sums that
// seldom differ may have agreed until now: the row is told, and what is left at its end is judged.
std::string take_hash(RowRun& run, const reply::Run& reply, std::size_t set) {
  const bool was_run = std::ranges::any_of(
      reply.samples, [set](const Sample& sample) { return sample.set == static_cast<int>(set); });
  if (!was_run) return {};
  const std::string left = set < reply.hashes.size() ? reply.hashes[set] : "";
  std::string& expected = run.hashes[set];
  if (left.empty())
    return fmt::format("turn {} gave no hash of the output it left for input set {}", run.turns,
                       set);
  if (expected.empty()) expected = left;
  if (left == expected) return {};
  if (may_differ(run.what())) {
    run.repeats_equal = false;
    run.row.deterministic = false;
    return {};
  }
  return fmt::format("turn {} left another output than {} (input set {}: hash {}, expected {})",
                     run.turns, run.row.numerics.empty() ? "before" : "the one that was judged",
                     set, left, expected);
}

}  // namespace

void RowRun::start_over() {
  samples.clear();
  readings.clear();
  spent_s = enqueue_ms = 0;
  turns = 0;
  set_aside = judged = false;
  repeats_equal = true;
  hashes.fill("");
  row.deterministic.reset();
}

void RowRun::take_inputs(const std::vector<std::string>& checksums) {
  row.inputs_checksum.clear();
  for (const std::string& checksum : checksums)
    row.inputs_checksum.push_back(what().pass == Pass::fwd ? of_forward(checksum) : checksum);
  if (earlier && earlier->inputs_checksum == row.inputs_checksum) {
    row = *earlier;
    finished = true;
  }
  earlier.reset();
}

request::Run next_turn(const RowRun& run, const Options& options) {
  request::Run turn;
  turn.impl = run.what().impl;
  turn.pass = run.what().pass;
  turn.cache = run.what().cache;
  turn.first_set = static_cast<int>(run.samples.size() % input_sets);
  if (options.iters)
    turn.count = next_count(run, *options.iters, options);
  else
    turn.for_ms = turn_ms(run, options);
  return turn;
}

bool precise(const RowRun& run, const Options& options) {
  if (static_cast<std::int64_t>(run.samples.size()) < options.min_samples) return false;
  return relative_half_width(summarize(run.samples)) <= options.precision;
}

bool cpu_bound(const RowRun& run) {
  constexpr double covered_ms = 1.3;  // the worker waits 1.5 times as long, 2 ms at most
  return run.enqueue_ms > covered_ms * static_cast<double>(run.samples.size());
}

bool enough(const RowRun& run, const Options& options) {
  if (options.iters) return static_cast<std::int64_t>(run.samples.size()) >= *options.iters;
  if (run.spent_s >= options.time_budget_s) return true;
  return run.turns >= least_turns && precise(run, options);
}

double patience_s(const Row& row, const std::optional<DeviceFacts>& device) {
  if (!row.cost) return 0;
  double seconds = 0;
  for (const KernelCost& kernel : row.cost->kernels)
    seconds += kernel.flops / slow_flops + kernel.exponentials / slow_exponentials;
  const std::int64_t processors = device ? device->multiprocessors.value_or(1) : 1;
  return seconds / static_cast<double>(std::max<std::int64_t>(processors, 1));
}

std::string take_turn(RowRun& run, const reply::Run& reply) {
  ++run.turns;
  if (reply.samples.empty()) return "a turn gave no sample";
  for (const Sample& sample : reply.samples)
    if (!std::isfinite(sample.ms) || sample.ms <= 0)
      return fmt::format("a turn gave a sample of {} ms", sample.ms);
  if (!reply.guards_intact)
    return reply.guard_reason.empty() ? "a timed turn wrote outside its tensors"
                                      : reply.guard_reason;
  if (run.repeats_equal)
    for (std::size_t set = 0; set < run.hashes.size(); ++set)
      if (std::string reason = take_hash(run, reply, set); !reason.empty()) return reason;
  run.samples.insert(run.samples.end(), reply.samples.begin(), reply.samples.end());
  run.enqueue_ms += reply.enqueue_ms;
  return {};
}

void take_description(Row& row, const reply::Describe& description) {
  const Problem& problem = row.what.problem;
  row.cost = description.cost;
  row.memory.inputs_bytes = description.inputs_bytes;
  row.memory.outputs_bytes = description.outputs_bytes;
  row.memory.workspace_bytes = description.cost.workspace_bytes;
  // Statistics are fp32, one a query and head.
  row.memory.saved_bytes =
      static_cast<std::int64_t>(description.cost.saves.size() * sizeof(float)) * problem.batch *
      problem.heads * problem.seq_q;
}

void take_output(Row& row, const reply::Output& output) {
  if (!row.memory.device_bytes) row.memory.device_bytes = output.device_bytes;
  if (!output.launches.empty()) row.launches = output.launches;
  if (output.counts) row.counts = output.counts;
  if (output.repeats_equal)
    row.deterministic = row.deterministic.value_or(true) && *output.repeats_equal;
}

void add_checks(std::vector<TensorCheck>& total, const std::vector<TensorCheck>& more) {
  for (const TensorCheck& check : more) {
    const auto same = std::ranges::find(total, check.tensor, &TensorCheck::tensor);
    if (same == total.end()) {
      total.push_back(check);
      continue;
    }
    const std::int64_t checked = same->rows_checked + check.rows_checked;
    const std::int64_t of = same->rows_total + check.rows_total;
    const auto max_abs = std::max(same->max_abs, check.max_abs);
    const auto rmse = std::max(same->rmse, check.rmse);
    const bool fails = check.verdict == Verdict::fail;
    const bool worse = same->verdict != Verdict::fail && (fails || check.ratio > same->ratio);
    if (worse) *same = check;
    same->max_abs = max_abs;
    same->rmse = rmse;
    same->rows_checked = checked;
    same->rows_total = of;
  }
}

std::string failed_check(const std::vector<TensorCheck>& checks) {
  for (const TensorCheck& check : checks)
    if (check.verdict == Verdict::fail)
      return check.reason.empty() ? check.tensor + " is outside the bound" : check.reason;
  return {};
}

}  // namespace flashbench
