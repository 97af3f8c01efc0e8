// All rows that share a problem's inputs and cache mode: prepared, judged, then timed in
// interleaved rounds.
#pragma once

#include <functional>
#include <vector>

#include "schedule/bench.hpp"

namespace flashbench {

// Every row is finished when it returns. Throws Interrupted.
void run_group(Bench&, const std::vector<RowRun*>&);

// The parts of it. `alone`: the row has its worker for itself, so what goes wrong is its own doing.

// How a reply that is not ok ends a row. Out of memory among others sets it aside instead.
void settle(Bench&, RowRun&, const Reply&, bool alone);
// What both workers and the judge are told to prepare for these rows.
request::Prepare prepare_request_of(const std::vector<RowRun*>&, const Options&);
// Asks the row's worker what it would do, once. Finishes what is unsupported, cannot fit the device
// or describes what cannot be. Throws WorkerLost and Interrupted.
void describe_row(Bench&, RowRun&, bool alone);
// Has both input sets' outputs written and judged. Finishes what fails. Throws WorkerLost and
// Interrupted.
void check_row(Bench&, RowRun&, const request::Prepare& inputs,
               const std::vector<std::string>& checksums, bool alone);
// Judges once more a row whose repeats differ (atomic sums), now that it has been timed.
void check_again(Bench&, RowRun&, const request::Prepare& inputs,
                 const std::vector<std::string>& checksums, bool alone);
// Has each row that is neither finished nor set aside run once, untimed, for a profiler. Throws
// WorkerLost and Interrupted.
void profile_rows(Bench&, const std::vector<RowRun*>&, bool alone);
// --counters, when nothing is left to time: reads the hardware counters of each row that is ok and
// has none yet. Whatever goes wrong is the row's `uncounted` and nothing else. Throws Interrupted.
void count_rows(Bench&, std::vector<RowRun>&);
// Whether count_rows would read the row's counters.
bool lacks_counters(const RowRun&);
// Interleaved rounds of the rows that are neither finished nor set aside. A row that has enough is
// handed to `conclude`, which finishes it or sets it aside. Throws WorkerLost and Interrupted.
void run_rounds(Bench&, const std::vector<RowRun*>&, bool alone,
                const std::function<void(RowRun&)>& conclude);

}  // namespace flashbench
