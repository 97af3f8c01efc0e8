// A row while it is being made.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "device/readings.hpp"
#include "plan/request.hpp"
#include "record/messages.hpp"
#include "record/row.hpp"

namespace flashbench {

struct RowRun {
  Row row;
  std::optional<Row> earlier;  // --resume: stands if it was measured on the same loaded inputs
  std::size_t worker = 0;      // index of its session
  bool finished = false;       // row is final
  bool set_aside = false;      // out of memory among others: gets one more chance alone
  bool judged = false;         // hashes are those of outputs that passed (or were not to be judged)
  bool repeats_equal = true;
  // Of each set's output as judged, or, where none was judged, as first seen.
  std::array<std::string, input_sets> hashes;
  std::vector<Sample> samples;
  std::vector<Reading> readings;  // of the GPU while they were taken
  double spent_s = 0;             // wall time of its turns
  double enqueue_ms = 0;          // what the CPU took to enqueue all samples
  int turns = 0;

  const Case& what() const { return row.what; }
  // Forgets what was timed and judged: the row starts again, perhaps in another process.
  void start_over();
  // Notes the checksums of the inputs that the worker has prepared. The earlier row is finished if
  // they are its own, and forgotten if they are not.
  void take_inputs(const std::vector<std::string>& checksums);
};

// What the next turn asks for.
request::Run next_turn(const RowRun&, const Options&);
// The stop rule: an exact count, or precise enough, or the budget is spent.
bool enough(const RowRun&, const Options&);
// Whether enqueueing a sample takes longer than the delay before it on a GPU can cover.
bool cpu_bound(const RowRun&);
// Whether the samples are as many and as steady as the user wants.
bool precise(const RowRun&, const Options&);

// How long the row's passes may go on without a sign of life, by their own description: none is
// finished work before it is over. 0 where nothing is known.
double patience_s(const Row&, const std::optional<DeviceFacts>&);

// Takes a turn's answer in. Returns why the row has failed, or an empty string.
std::string take_turn(RowRun&, const reply::Run&);

// Facts about the row that describe and output bring.
void take_description(Row&, const reply::Describe&);
void take_output(Row&, const reply::Output&);
// Adds the verdicts on another input set: the worst of both counts.
void add_checks(std::vector<TensorCheck>& total, const std::vector<TensorCheck>& more);
// The first failing tensor's sentence; empty when none fails.
std::string failed_check(const std::vector<TensorCheck>&);

// A shell line that measures this row again: every axis spelt out.
std::string command_line(const Case&, const Options&, const std::string& device);

}  // namespace flashbench
