#include "schedule/bench.hpp"

#include <fmt/format.h>

#include "estimate/estimate.hpp"

namespace flashbench {

namespace {

Measurement measurement_of(const Roster& roster, const Options& options) {
  Measurement m = measurement_of(options);
  m.timer = roster.backend == Backend::cpu ? "steady_clock" : "cuda events";
  if (!roster.workers.empty()) m.method = roster.workers.front().hello.method;
  return m;
}

}  // namespace

Measurement measurement_of(const Options& options) {
  Measurement m;
  m.seed = options.seed;
  if (options.profile) {
    m.check = "profile";  // which --resume takes for no other run's
    return m;
  }
  m.precision = options.precision;
  m.time_budget_s = options.time_budget_s;
  m.min_samples = options.min_samples;
  m.iters = options.iters;
  m.warmup = options.warmup;
  m.check = options.check == Check::full ? "full" : options.check == Check::only ? "only" : "none";
  return m;
}

void Pace::say(const std::string& what) {
  const auto now = Clock::now();
  if (!events_.progress || now - said_ < std::chrono::milliseconds(200)) return;
  said_ = now;
  const double spent = std::chrono::duration<double>(now - started_).count();
  const double each = done_ ? spent / static_cast<double>(done_) : first_guess_s_;
  double left = each * static_cast<double>(rows_ - done_);
  if (done_ == 0) left = std::max(left - spent, 0.0);
  events_.progress(what, done_, rows_, left);
}

OnProgress Pace::listener(std::string what) {
  return [this, what = std::move(what)](const Progress& progress) {
    say(progress.what.empty() ? what : fmt::format("{}: {}", what, progress.what));
  };
}

Bench::Bench(const Roster& who, const Options& wanted, const ScheduleEvents& told, std::size_t rows,
             std::int64_t scratch_bytes)
    : roster(who),
      options(wanted),
      events(told),
      judge(who, wanted.timeout_s),
      measurement(measurement_of(who, wanted)),
      scratch(scratch_bytes),
      pace(told, rows, wanted.time_budget_s * 2) {
  for (const WorkerFacts& facts : roster.workers)
    workers.push_back(link_to(facts, options.timeout_s));
  const std::string uuid = gpu_uuid(roster);
  std::string why;
  if (!uuid.empty() && !(gpu = GpuMonitor::open(uuid, why)))
    warn(fmt::format("clocks and other processes on the GPU are not watched: {}", why));
}

Reply Bench::ask_to_run(const RowRun& run, const request::Any& body, const OnProgress& on_progress,
                        const OnWait& on_wait) {
  const auto& device = roster.workers[run.worker].hello.device;
  return worker(run).ask(body, on_progress, on_wait, patience_s(run.row, device));
}

OnWait Bench::watch(RowRun& run) const {
  if (!gpu) return {};
  return [this, &run] { run.readings.push_back(gpu->read()); };
}

void Bench::finish(RowRun& run, Status status, const std::string& reason) {
  Row& row = run.row;
  run.finished = true;
  if (run.earlier && status != Status::ok) {
    warn(fmt::format("{} stays as --resume found it, its inputs not compared: {}",
                     short_name(run.what()), reason));
    row = *run.earlier;  // it says on which inputs it was measured
    return pace.row_done();
  }
  row.status = status;
  row.reason = reason;
  if (status == Status::ok && !run.samples.empty()) {
    row.time = summarize(run.samples);
    const auto& device = roster.workers[run.worker].hello.device;
    note_readings(row, run.readings, device ? device->clock_mhz : std::nullopt);
    if (roster.backend == Backend::cuda && cpu_bound(run)) row.flags.emplace_back("cpu_bound");
    if (!options.iters && !precise(run, options)) row.flags.emplace_back("imprecise");
    derive_figures(run);
  } else {
    row.shared_rounds_with.clear();
  }
  pace.row_done();
  if (events.row_finished) events.row_finished(row);
  pace.say(short_name(row.what));
}

void Bench::derive_figures(RowRun& run) const {
  const auto& device = roster.workers[run.worker].hello.device;
  std::optional<double> peak = options.peak_tflops;
  if (!peak && device) peak = device->peak_tflops;
  derive(run.row, ceilings.best(), peak);
}

std::string short_name(const Case& what) {
  return fmt::format("{} {} at {} x {}", what.impl, name(what.pass), what.problem.seq_q,
                     what.problem.seq_k);
}

}  // namespace flashbench
