// Runs a plan: prepares inputs in every worker, has outputs judged before anything is timed, then
// interleaved rounds until each row is precise enough. Owns stop rule, time-outs, restarts, journal
// and resume. Samples live here, in the front.
#pragma once

#include <exception>
#include <functional>
#include <vector>

#include "plan/plan.hpp"
#include "record/row.hpp"

namespace flashbench {

struct ScheduleEvents {
  std::function<void(const Row&)> row_finished;  // in the order in which they finish
  // Several times a second at most: what goes on, rows finished and of how many, seconds left
  // (negative: unknown).
  std::function<void(const std::string& what, std::size_t done, std::size_t of,
                     double seconds_left)>
      progress;
  std::function<void(const std::string&)> warning;
  // A row that has finished knows its hardware counters now, or why there are none.
  std::function<void(const Row&)> row_counted = {};
};

// What a report says of how these options measure, but for what the workers know.
Measurement measurement_of(const Options&);

struct ScheduleResult {
  std::vector<Row> rows;  // one a case, in plan order
  std::vector<Ceiling> ceilings;
  Measurement measurement;
  bool interrupted = false;
  // What the front itself threw, if anything: then rows that had not finished are not_run, and
  // whoever has saved the others throws it on.
  std::exception_ptr failure;
};

// Finished rows of an earlier report (--resume) are given in `known` and not run again, unless they
// were measured on loaded inputs and the files hold others now.
ScheduleResult run_plan(const Plan&, const Roster&, const Options&, const ScheduleEvents&,
                        const std::vector<Row>& known = {});

}  // namespace flashbench
