#include <algorithm>
#include <map>

#include "record/hardware_counters.hpp"
#include "schedule/group.hpp"

namespace flashbench {

namespace {

// Each problem is prepared anew, by the workers that count: they have one input set and one problem
// at a time.
class Counting {
 public:
  explicit Counting(Bench& bench) : bench_(bench) {}

  // Rows of one problem and one worker.
  void count(const std::vector<RowRun*>& rows) {
    prepared_ = false;
    request::Prepare inputs = prepare_request_of(rows, bench_.options);
    inputs.sets.resize(1);
    for (RowRun* run : rows) {
      run->row.uncounted = obstacle_to(*run, inputs);
      if (bench_.events.row_counted) bench_.events.row_counted(run->row);
    }
    if (prepared_) ask_to_drop(bench_.worker(*rows.front()));
  }

 private:
  // Empty: the row was counted.
  std::string obstacle_to(RowRun& run, const request::Prepare& inputs) {
    try {
      if (const std::string& why = obstacle_of_worker(run); !why.empty()) return why;
      if (const std::string why = prepare(run, inputs); !why.empty()) return why;
      const Case& what = run.what();
      const std::string doing = "counting " + short_name(what);
      bench_.pace.say(doing);
      const Reply reply =
          bench_.ask_to_run(run, request::Count{what.impl, what.pass, counters::all(), what.cache},
                            bench_.pace.listener(doing));
      if (reply.status != Status::ok) return reason_of(reply);
      run.row.measured = body_of<reply::Count>(reply).values;
      return {};
    } catch (const WorkerLost& lost) {
      prepared_ = false;
      bench_.worker(run).stop();
      return lost.what();
    }
  }
  // What keeps it from reading any, asked once of each worker.
  const std::string& obstacle_of_worker(const RowRun& run) {
    if (const auto known = obstacles_.find(run.worker); known != obstacles_.end())
      return known->second;
    const Reply reply = bench_.worker(run).ask(request::Count{});
    return obstacles_[run.worker] = reply.status == Status::ok ? "" : reason_of(reply);
  }
  std::string prepare(const RowRun& run, const request::Prepare& inputs) {
    if (prepared_) return {};
    const Reply reply =
        bench_.worker(run).ask(inputs, bench_.pace.listener("preparing inputs to count on"));
    prepared_ = reply.status == Status::ok;
    return prepared_ ? "" : reason_of(reply);
  }
  static std::string reason_of(const Reply& reply) {
    return reply.reason.empty() ? "the worker gave no reason" : reply.reason;
  }
  static void ask_to_drop(WorkerLink& worker) {
    try {
      worker.ask(request::Drop{});
    } catch (const WorkerLost&) {  // it has dropped everything
    }
  }

  Bench& bench_;
  std::map<std::size_t, std::string> obstacles_;  // by worker
  bool prepared_ = false;
};

}  // namespace

bool lacks_counters(const RowRun& run) {
  return run.finished && run.row.status == Status::ok && run.row.measured.empty();
}

void count_rows(Bench& bench, std::vector<RowRun>& rows) {
  // A process that has been profiled may be slower afterwards: those that count have timed nothing
  // and will time nothing.
  for (WorkerLink& worker : bench.workers) worker.leave();
  std::map<std::string, std::size_t> index;
  std::vector<std::vector<RowRun*>> groups;  // by problem and worker, in the order of the rows
  for (RowRun& run : rows) {
    if (!lacks_counters(run) || run.worker >= bench.workers.size()) continue;
    const std::string group = problem_key(run.what()) + " " + std::to_string(run.worker);
    const auto [place, is_new] = index.try_emplace(group, groups.size());
    if (is_new) groups.emplace_back();
    groups[place->second].push_back(&run);
  }
  Counting counting(bench);
  for (const auto& group : groups) counting.count(group);
}

}  // namespace flashbench
