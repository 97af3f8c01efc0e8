#include "schedule/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "device/lock.hpp"
#include "process/interrupt.hpp"
#include "schedule/group.hpp"
#include "schedule/journal.hpp"

namespace flashbench {

namespace {

std::optional<std::size_t> worker_of(const Roster& roster, const Case& what) {
  for (std::size_t i = 0; i < roster.workers.size(); ++i)
    if (roster.workers[i].source == what.source && roster.workers[i].backend == what.backend)
      return i;
  return std::nullopt;
}

// What an output takes as fp32 .npy, inputs included; an upper bound of the largest case.
std::int64_t scratch_bytes(const Plan& plan) {
  double most = 0;
  for (const Case& what : plan.cases) {
    const Problem& p = what.problem;
    const double queries = static_cast<double>(p.batch) * static_cast<double>(p.heads) *
                           static_cast<double>(p.seq_q) * static_cast<double>(p.head_dim);
    const double keys = static_cast<double>(p.batch) * static_cast<double>(p.kv_heads) *
                        static_cast<double>(p.seq_k) * static_cast<double>(p.head_dim);
    most = std::max(most, 4 * (4 * queries + 4 * keys));
  }
  return static_cast<std::int64_t>(std::min(most, 1e15));
}

std::vector<RowRun> make_rows(const Plan& plan, const Roster& roster, const Options& options,
                              const std::vector<Row>& known) {
  std::unordered_map<std::string, const Row*> finished;
  for (const Row& row : known)
    if (stands(row)) finished[key(row.what)] = &row;
  std::vector<RowRun> rows;
  for (const Case& what : plan.cases) {
    RowRun& run = rows.emplace_back();
    const auto worker = worker_of(roster, what);
    run.worker = worker.value_or(roster.workers.size());
    if (const auto it = finished.find(key(what)); it != finished.end()) {
      if (what.problem.init != Init::loaded) {
        run.row = *it->second;
        run.finished = true;
        continue;
      }
      run.earlier = *it->second;  // what the files hold now is known when they are read
    }
    run.row.what = what;
    run.row.flops = flops(what.problem, what.pass);
    run.row.command = command_line(
        what, options, worker ? hello_device(roster.workers[*worker]) : name(what.backend).data());
  }
  return rows;
}

// In the order of each group's first row.
std::vector<std::vector<RowRun*>> groups_of(std::vector<RowRun>& rows) {
  std::map<std::string, std::size_t> index;
  std::vector<std::vector<RowRun*>> groups;
  for (RowRun& run : rows) {
    if (run.finished) continue;
    const auto [it, is_new] = index.try_emplace(problem_key(run.what()), groups.size());
    if (is_new) groups.emplace_back();
    groups[it->second].push_back(&run);
  }
  return groups;
}

void refuse_orphans(Bench& bench, std::vector<RowRun>& rows) {
  for (RowRun& run : rows) {
    if (run.finished) continue;
    if (run.worker >= bench.workers.size())
      bench.finish(run, Status::unsupported,
                   fmt::format("no worker here serves {} ({})", run.what().source,
                               name(run.what().backend)));
    else if (const std::string& why = bench.roster.workers[run.worker].absent; !why.empty())
      bench.finish(run, Status::unsupported, why);
  }
}

// Ends the workers at once; rows that have not finished say why.
void give_up(Bench& bench, std::vector<RowRun>& rows, const std::string& reason) {
  for (WorkerLink& worker : bench.workers) worker.stop();
  bench.judge.stop();
  for (RowRun& run : rows)
    if (!run.finished && run.earlier) {
      run.row = *run.earlier;  // it says on which inputs it was measured
    } else if (!run.finished) {
      run.row.status = Status::not_run;
      run.row.reason = reason;
      run.row.shared_rounds_with.clear();
    }
}

void run_groups(Bench& bench, std::vector<RowRun>& rows, ScheduleResult& result) {
  try {
    refuse_orphans(bench, rows);
    for (const auto& group : groups_of(rows)) {
      if (interrupted()) throw Interrupted{};
      run_group(bench, group);
    }
    if (bench.options.counters) count_rows(bench, rows);
    for (WorkerLink& worker : bench.workers) worker.leave();
    bench.judge.leave();
  } catch (const Interrupted&) {
    result.interrupted = true;
    give_up(bench, rows, "the run was interrupted before this row had finished");
  } catch (const std::exception& error) {
    result.failure = std::current_exception();
    give_up(bench, rows,
            fmt::format("the run ended before this row had finished: {}", error.what()));
  }
}

}  // namespace

ScheduleResult run_plan(const Plan& plan, const Roster& roster, const Options& options,
                        const ScheduleEvents& events, const std::vector<Row>& known) {
  const InterruptScope scope;
  std::vector<RowRun> rows = make_rows(plan, roster, options, known);
  const auto to_run = static_cast<std::size_t>(
      std::ranges::count(rows, false, [](const RowRun& run) { return run.finished; }));
  const bool needs_gpu =
      to_run > 0 || (options.counters && std::ranges::any_of(rows, lacks_counters));
  const GpuLock lock(needs_gpu ? gpu_uuid(roster) : "", events.warning, interrupted);
  Bench bench(roster, options, events, to_run, scratch_bytes(plan));
  if (!plan.cases.empty()) bench.measurement.cache = plan.cases.front().cache;
  ScheduleResult result;
  run_groups(bench, rows, result);
  for (RowRun& run : rows)  // against the ceilings of the whole run
    if (run.row.status == Status::ok && !run.samples.empty()) bench.derive_figures(run);
  result.ceilings = bench.ceilings.best();
  result.measurement = bench.measurement;
  for (RowRun& run : rows) result.rows.push_back(std::move(run.row));
  return result;
}

}  // namespace flashbench
