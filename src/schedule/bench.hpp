// What the parts of one run share.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "device/monitor.hpp"
#include "schedule/ceilings.hpp"
#include "schedule/judging.hpp"
#include "schedule/row_run.hpp"
#include "schedule/schedule.hpp"
#include "schedule/scratch.hpp"

namespace flashbench {

// Passes progress on, a few times a second, with an estimate of the seconds left.
class Pace {
 public:
  Pace(const ScheduleEvents& events, std::size_t rows, double first_guess_s)
      : events_(events), rows_(rows), first_guess_s_(first_guess_s) {}
  void row_done() { ++done_; }
  void say(const std::string& what);
  OnProgress listener(std::string what);

 private:
  using Clock = std::chrono::steady_clock;
  const ScheduleEvents& events_;
  std::size_t rows_, done_ = 0;
  double first_guess_s_;  // of one row
  Clock::time_point started_ = Clock::now(), said_ = Clock::now() - std::chrono::hours(1);
};

struct Bench {
  const Roster& roster;
  const Options& options;
  const ScheduleEvents& events;
  std::vector<WorkerLink> workers;  // as in roster
  std::unique_ptr<GpuMonitor> gpu;  // null: a CPU, or a GPU that cannot be watched
  Judging judge;
  // Of the problem at hand, by pass: the checksums of the first worker that made its inputs. Only
  // where there is no judge.
  std::map<Pass, std::vector<std::string>> first_inputs;
  CeilingTable ceilings;
  Measurement measurement;
  Scratch scratch;
  Pace pace;

  Bench(const Roster&, const Options&, const ScheduleEvents&, std::size_t rows,
        std::int64_t scratch_bytes);
  WorkerLink& worker(const RowRun& run) { return workers[run.worker]; }
  // Asks the row's worker to run it, and waits as long as that may take.
  Reply ask_to_run(const RowRun&, const request::Any&, const OnProgress& = {}, const OnWait& = {});
  // What reads the GPU while a turn of this row is waited for; may be empty.
  OnWait watch(RowRun&) const;
  // The row is final: derives its figures and hands it on.
  void finish(RowRun&, Status, const std::string& reason = "");
  // The figures that follow from time, ceilings so far and peak. May be called again.
  void derive_figures(RowRun&) const;
  void warn(const std::string& sentence) const {
    if (events.warning) events.warning(sentence);
  }
};

// "v2 fwd at 4096 x 4096", for progress.
std::string short_name(const Case&);

}  // namespace flashbench
