// A row of a report and the report itself. Plain data: every field that may be missing is an
// optional, and becomes null in JSON, empty in CSV and "n/a" in a table. JSON conversion:
// record/json.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "record/problem.hpp"

namespace flashbench {

struct Sample {
  double ms = 0;
  int set = 0;  // which of the two input sets
};

// The least number of samples whose median has a distribution-free 95 % interval. All of five lie
// on one side of the median in 2 of 2^5 cases, 6 %: not even [min, max] covers it 95 times of 100.
inline constexpr std::int64_t least_for_interval = 6;

// Median with its distribution-free 95 % interval, in milliseconds. The interval is made of order
// statistics.
struct Time {
  double median = 0;
  std::optional<double> low, high;  // both null where there is no interval
  double min = 0, p05 = 0, p95 = 0, mean = 0, stddev = 0;
  std::int64_t n = 0;  // 0 where a file does not say
  std::vector<Sample> samples;
};

// Bytes by operand: q k v o statistics scores do dq dk dv, as in FlashbenchOperand.
struct Traffic {
  std::map<std::string, double> read, written;
  double total() const;
};

struct KernelCost {
  std::string kernel;
  Pipe pipe = Pipe::none;
  double flops = 0, exponentials = 0;
  Traffic traffic;
};

struct Cost {
  std::vector<KernelCost> kernels;
  std::int64_t workspace_bytes = 0;
  std::vector<std::string> saves;  // "lse", "m", "l"
};

struct Launch {
  std::string kernel;
  std::optional<std::int64_t> registers, spilled_bytes, threads, shared_bytes, blocks,
      blocks_per_multiprocessor;
  std::optional<double> waves;
};

struct Counts {
  Traffic traffic;
  double exponentials = 0, divisions = 0, corrections = 0, merges = 0, barriers = 0, flops = 0;
};

// One tensor (o, lse, dq, dk, dv) against the fp64 reference, over both input sets.
struct TensorCheck {
  std::string tensor;
  std::optional<double> max_abs, rmse;
  std::optional<double>
      ratio;  // the largest error / bound over the 64-row blocks; at most 1 passes
  std::optional<std::array<std::int64_t, 4>> worst;  // b, s, h, x; x = -1 for lse
  std::int64_t rows_checked = 0, rows_total = 0;
  Verdict verdict = Verdict::not_checked;
  std::string reason;  // a sentence when it fails: what, where, how far off
};

// Rates measured in this run: "sgemm", "gemm", "mma", "wgmma" in FLOP/s, "exp2" in evaluations/s,
// "copy" in bytes/s.
struct Ceiling {
  std::string name;
  double rate = 0;
  std::int64_t n = 0;  // samples, of which the best counts
};

struct Utilization {
  std::optional<double> peak;     // counted FLOPs / time / datasheet peak, 0...1
  std::optional<double> ceiling;  // floor time / time
  std::string binds;              // "sgemm", "copy", "exp2", ...: the largest term of the floor
  std::optional<double> floor_ms;
};

// The quotient of two medians with its 95 % interval. Where one of the two has no interval, neither
// has this: low and high are then what they would be if that median stood for both of its ends.
struct Ratio {
  double value = 1, low = 1, high = 1;
  bool has_interval = true;
};

struct Speedup {
  std::string vs;  // the implementation
  double value = 1;
  std::optional<double> low = 1, high = 1;  // null where one of the two times has no interval
};

// Of a row on the way from V1 to V2 (docs/ladder.md): its one idea, and what that brings.
struct LadderPlace {
  std::string idea, section;
  std::string vs;  // the implementation it is held against, a rung below as a rule; may be empty
  std::optional<double> gain, low, high;  // time of vs / time; its 95 % interval or null
  std::optional<double> share;            // of the whole way: ln gain / ln of the whole gain
};

struct Memory {
  std::optional<std::int64_t> workspace_bytes, saved_bytes, inputs_bytes, outputs_bytes,
      device_bytes;
  std::optional<std::int64_t> needed_bytes;  // of an oom row
};

struct Row {
  Case what;
  Status status = Status::not_run;
  std::string reason;  // a sentence, for each status but ok
  std::optional<Time> time;
  std::optional<double> tflops;
  Utilization utilization;
  Flops flops;
  std::optional<Cost> cost;
  std::optional<Counts> counts;
  Memory memory;
  std::vector<Launch> launches;
  std::vector<TensorCheck> numerics;
  std::optional<Speedup> speedup;
  std::optional<LadderPlace> ladder;
  std::optional<double> clock_mhz;
  std::vector<std::string>
      flags;                    // power_capped, throttled, drift, imprecise, contended, cpu_bound
  std::optional<double> drift;  // relative: the last samples over the first; estimate.hpp
  std::optional<bool> deterministic;
  std::vector<std::string> shared_rounds_with;  // keys
  std::string command;                          // a line that reproduces this row
  std::string label;                            // empty: the report's
  // Of each input set, a hash of every tensor that the pass reads: "q-k-v" or "q-k-v-do".
  std::vector<std::string> inputs_checksum;
  // Hardware counters of --counters, by metric.
  std::map<std::string, std::optional<double>> measured;
  // Why there are none though --counters asked for them: a few words, a colon, and what can be
  // done.
  std::string uncounted;
  // Of a merged report: which of its origins the row comes from.
  std::optional<std::size_t> origin;
  // The key that a file gave, where it is not the one that `what` makes; use identity().
  std::string recorded_key;
  // JSON paths ("problem/batch") that the file it was read from does not give. What stands there is
  // a stand-in that lets rows be paired; no writer shows it.
  std::set<std::string> unrecorded;
};

// What a row is paired by: the key that its file gave, or key(what).
std::string identity(const Row&);

// `value`, which stands at `path` of what was read from a file; nothing where the file lacks it.
template <class Record, class Value>
std::optional<Value> recorded(const Record& record, const char* path, const Value& value) {
  return record.unrecorded.contains(path) ? std::nullopt : std::optional<Value>(value);
}

// Whether the median has an interval, and is not a bare one. What a file gives for one of fewer
// samples is none; where it does not say how many there were, it is taken at its word.
bool has_interval(const Time&);
// Bytes that the row's kernels move by their own declaration; nothing where one does not declare.
std::optional<double> modelled_bytes(const Row&);
// FLOPs that its kernels really execute, and bytes of an operand ("o") that they read and write,
// both by their own declaration; nothing where one does not declare.
std::optional<double> executed_flops(const Row&);
std::optional<double> modelled_bytes(const Row&, const std::string& operand);
// Whether by its own description a case's S lies in memory in the problem's 16-bit dtype: some
// kernel of products writes at most two bytes of scores for each that it multiplies out.
bool keeps_rounded_scores(const Problem&, const Cost&);

// The first figure that no work can have (negative, not a number, beyond 1e30), as a sentence;
// empty: there is none.
std::string absurdity_of(const Cost&);
std::string absurdity_of(const Counts&);

struct DeviceFacts {
  Backend backend = Backend::cpu;
  std::string name, uuid, pci, driver, cuda, peak_source;
  std::optional<std::int64_t> multiprocessors, memory_bytes, l2_bytes, shared_bytes_per_block,
      shared_bytes_per_multiprocessor, compute_capability, ordinal;
  std::optional<double> clock_mhz, memory_clock_mhz, power_limit_w, peak_tflops, peak_gbps;
};

struct Measurement {
  Cache cache = Cache::cold;
  std::string timer;   // "steady_clock", "cuda events"
  std::string method;  // of the worker's hello
  std::optional<double> precision, time_budget_s;
  std::optional<std::int64_t> min_samples, iters, warmup, flush_bytes;
  std::uint64_t seed = 0;
  std::string check;  // "full", "only", "none"
};

struct Report {
  bool complete = false;
  std::string tool_version, tool_commit, tool_build;
  std::vector<std::string> argv;
  std::string started;  // ISO 8601, UTC
  std::string label, host;
  std::string view;  // the table it was made for (report/views.hpp); empty: that of rows
  DeviceFacts device;
  std::vector<Ceiling> ceilings;
  Measurement measurement;
  std::vector<Row> rows;
  // Of a merged report: what it was merged from, each without its rows. What stands above is what
  // they share; ceilings, device and seed of a row are its origin's.
  std::vector<Report> origins;
  std::set<std::string> unrecorded;  // as in Row; nothing of rows
};

// The report that says on what and how the row was measured: one of the origins, or `report`.
const Report& origin_of(const Report& report, const Row&);

}  // namespace flashbench
