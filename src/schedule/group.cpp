#include "schedule/group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

namespace flashbench {

namespace {

using Checksums = std::map<std::size_t, std::vector<std::string>>;  // by worker

// Asks once more after a drop when memory is short: an earlier problem may have left some behind.
Reply prepare_worker(Bench& bench, std::size_t worker, const request::Prepare& inputs) {
  WorkerLink& session = bench.workers[worker];
  const OnProgress listener = bench.pace.listener("preparing inputs");
  Reply reply = session.ask(inputs, listener);
  if (reply.status != Status::oom) return reply;
  session.ask(request::Drop{});
  return session.ask(inputs, listener);
}

// Without a judge to hold the inputs against, those of the first worker that made them count.
void compare_inputs(Bench& bench, const std::vector<RowRun*>& its_rows, Pass pass,
                    const std::vector<std::string>& checksums) {
  const auto& first = bench.first_inputs.try_emplace(pass, checksums).first->second;
  const std::string reason = different_inputs("the first worker", first, checksums);
  if (reason.empty()) return;
  for (RowRun* run : its_rows)
    if (!run->finished) bench.finish(*run, Status::failed, reason);
}

// Every worker holds these inputs, so that one may lack the memory that another took: its rows are
// set aside.
Checksums prepare(Bench& bench, const std::vector<RowRun*>& rows, const request::Prepare& inputs) {
  Checksums checksums;
  std::map<std::size_t, std::vector<RowRun*>> by_worker;
  for (RowRun* run : rows)
    if (!run->finished) by_worker[run->worker].push_back(run);
  for (const auto& [worker, its_rows] : by_worker) {
    const Reply reply = prepare_worker(bench, worker, inputs);
    if (reply.status != Status::ok) {
      for (RowRun* run : its_rows) settle(bench, *run, reply, by_worker.size() == 1);
      continue;
    }
    checksums[worker] = body_of<reply::Prepare>(reply).checksums;
    for (RowRun* run : its_rows) {
      run->take_inputs(checksums[worker]);
      if (run->finished) bench.pace.row_done();
    }
    if (bench.options.check == Check::none)
      compare_inputs(bench, its_rows, inputs.pass, checksums[worker]);
  }
  return checksums;
}

bool is_open(const RowRun* run) {
  return !run->finished && !run->set_aside;
}

void measure(Bench& bench, const std::vector<RowRun*>& all, bool alone) {
  // On a GPU the two need different memory; on the CPU each has to see what the other takes.
  const bool judge_beside =
      bench.options.check != Check::none && bench.roster.backend == Backend::cuda;
  if (judge_beside) bench.judge.launch();
  for (RowRun* run : all)
    if (is_open(run)) describe_row(bench, *run, alone);
  std::vector<RowRun*> rows;
  std::ranges::copy_if(all, std::back_inserter(rows), is_open);
  if (rows.empty()) return;
  const request::Prepare inputs = prepare_request_of(rows, bench.options);
  if (judge_beside) bench.judge.begin(inputs);
  const Checksums checksums = prepare(bench, rows, inputs);
  if (bench.options.profile) return profile_rows(bench, rows, alone);
  for (RowRun* run : rows)
    if (is_open(run)) check_row(bench, *run, inputs, checksums.at(run->worker), alone);
  const auto conclude = [&](RowRun& run) {
    check_again(bench, run, inputs, checksums.at(run.worker), alone);
    if (is_open(&run)) bench.finish(run, Status::ok);
  };
  if (bench.options.check != Check::only) return run_rounds(bench, rows, alone, conclude);
  for (RowRun* run : rows)
    if (is_open(run)) bench.finish(*run, Status::ok);
}

void drop_all(Bench& bench) {
  for (WorkerLink& worker : bench.workers) {
    if (!worker.running()) continue;
    try {
      worker.ask(request::Drop{});
    } catch (const WorkerLost&) {  // started again when it is needed
    }
  }
}

// The row has the worker for itself. Only a process that has served nothing else convicts it; out
// of memory needs no more than a drop.
void run_alone(Bench& bench, RowRun& run, bool fresh) {
  run.start_over();
  if (fresh) bench.worker(run).stop();
  drop_all(bench);
  try {
    measure(bench, {&run}, true);
  } catch (const CeilingLost& lost) {  // not asked for again, so this comes to an end
    bench.worker(run).stop();
    bench.warn(lost.what());
    if (!run.finished) run_alone(bench, run, fresh);
  } catch (const WorkerLost& lost) {
    bench.worker(run).stop();
    if (!fresh) return run_alone(bench, run, true);
    bench.finish(run, lost.timed_out ? Status::timeout : Status::crashed, lost.what());
  }
}

}  // namespace

void settle(Bench& bench, RowRun& run, const Reply& reply, bool alone) {
  if (reply.status == Status::oom && !alone) {
    run.set_aside = true;
    return;
  }
  run.row.memory.needed_bytes = reply.needed_bytes;
  const std::string reason =
      reply.reason.empty() ? std::string("the worker gave no reason") : reply.reason;
  bench.finish(run, reply.status, reason);
}

request::Prepare prepare_request_of(const std::vector<RowRun*>& rows, const Options& options) {
  request::Prepare inputs;
  inputs.problem = rows.front()->what().problem;
  inputs.pass = rows.front()->what().pass;
  for (const RowRun* run : rows)
    if (run->what().pass != inputs.pass) inputs.pass = Pass::fwd_bwd;
  for (int set = 0; set < (options.profile ? 1 : input_sets); ++set)
    inputs.sets.push_back({options.seed + static_cast<std::uint64_t>(set), options.load_dir});
  return inputs;
}

void run_group(Bench& bench, const std::vector<RowRun*>& rows) {
  bool lost_one = false;
  try {
    measure(bench, rows, false);
  } catch (const WorkerLost& lost) {
    lost_one = true;
    bench.warn(fmt::format("{}; its rows are run one a worker", lost.what()));
    for (const RowRun* run : rows)
      if (!run->finished) bench.worker(*run).stop();
  }
  for (RowRun* run : rows)
    if (!run->finished) run_alone(bench, *run, lost_one);
  drop_all(bench);
  bench.judge.drop();
  bench.first_inputs.clear();
}

}  // namespace flashbench
