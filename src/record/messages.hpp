// The private protocol between the front and its workers: one JSON object a line over a socket
// pair, at most 1 MiB. Request {id, op, ...}; reply {id, status: ok|unsupported|oom|failed, reason,
// ...}; between them any number of progress {id, done, of, what}, each sent only when work was
// finished. Tensors go by folder (.npy), never by line. Versioned only so that --against can refuse
// another method.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "record/errors.hpp"
#include "record/row.hpp"

namespace flashbench {

inline constexpr int protocol_version = 1;
// Sets of inputs that samples alternate between.
inline constexpr int input_sets = 2;
// Seconds that a worker may give no sign of life: --timeout where it is not given.
inline constexpr double default_timeout_s = 60;
// Changes with flush, delay, timer, generator or the length of batches: figures of two methods are
// not comparable.
inline constexpr const char* measurement_method = "2";
inline constexpr std::size_t longest_line = 1 << 20;

struct InputSet {
  std::uint64_t seed = 0;
  std::string dir;  // --load; empty: generated from seed and Problem::init
};

namespace request {
struct Hello {
  std::string device;  // "cpu" or a CUDA ordinal
};
struct Describe {
  Problem problem;
  std::string impl;
  Pass pass = Pass::fwd;
};
// Allocates and fills the inputs of a problem; every later request speaks of them until drop.
struct Prepare {
  Problem problem;
  Pass pass = Pass::fwd;
  std::vector<InputSet> sets;
};
// Runs once on poisoned outputs and writes q k v [do] o lse [dq dk dv] .npy into dir (inputs only
// if `inputs`).
struct Output {
  std::string impl;
  Pass pass = Pass::fwd;
  int set = 0;
  std::string dir;
  std::string stats_from;  // bwd only: another implementation whose forward gives the statistics
  bool inputs = false;
};
// To the judge, after prepare: compares the tensors in dir with the reference of that set.
struct Judge {
  Pass pass = Pass::fwd;
  int set = 0;
  std::string dir;
  std::string impl;             // for progress and errors alone
  bool rounded_scores = false;  // it keeps S in memory in the problem's dtype: see judge/rule.hpp
};
struct Run {
  std::string impl;
  Pass pass = Pass::fwd;
  std::optional<double> for_ms;       // of wall time, at least one sample ...
  std::optional<std::int64_t> count;  // ... or an exact number of samples
  Cache cache = Cache::cold;
  int first_set = 0;
};
// Runs one untimed pass of input set 0 for a profiler, which finds it under the name `range`.
struct Profile {
  std::string impl;
  Pass pass = Pass::fwd;
  std::string range;
};
// A hidden row: measures one ceiling for about for_ms.
struct Ceiling {
  std::string name;
  double for_ms = 20;
};
// Reads hardware counters over one run on input set 0. Without metrics it needs no problem and asks
// whether they can be read at all.
struct Count {
  std::string impl;
  Pass pass = Pass::fwd;
  std::vector<std::string> metrics;
  Cache cache = Cache::cold;
};
struct Drop {};
struct Bye {};
using Any =
    std::variant<Hello, Describe, Prepare, Output, Judge, Run, Profile, Ceiling, Count, Drop, Bye>;
}  // namespace request

struct Request {
  std::int64_t id = 0;
  request::Any body;
};

struct ImplementationFacts {
  std::string name, idea, section;
  std::vector<std::string> passes;  // "fwd", "bwd"
};

namespace reply {
struct Hello {
  int protocol = protocol_version;
  std::string method = measurement_method;
  std::string tool, source;
  std::optional<DeviceFacts> device;  // null: this device cannot be used, and reason says why
  std::string device_reason;
  std::string stand_in;  // without a device: that by whose figures it describes; empty: by none
  std::vector<ImplementationFacts> implementations;
  std::vector<std::string> ceilings;  // names it can measure
};
struct Describe {
  std::int64_t inputs_bytes = 0, outputs_bytes = 0;  // of one input set
  Cost cost;
  // The most memory that a problem can get: all of a GPU's, on the CPU what is available now.
  std::optional<std::int64_t> room_bytes;
};
struct Prepare {
  std::vector<std::string> checksums;  // a set each: "q-k-v" or "q-k-v-do", a hash a tensor
  std::optional<std::int64_t> free_bytes;
};
struct Output {
  std::string hash;
  bool guards_intact = true;
  std::string guard_reason;
  std::optional<bool> repeats_equal;
  std::optional<std::int64_t> device_bytes;
  std::vector<Launch> launches;
  std::optional<Counts> counts;
};
struct Judge {
  std::vector<TensorCheck> tensors;
};
struct Run {
  std::vector<Sample> samples;
  // Of each set's outputs in samples that began with poisoned ones; "" for a set not run. Where
  // they differ, the first and a later one, so that they equal no hash.
  std::vector<std::string> hashes;
  bool guards_intact = true;
  std::string guard_reason;
  double enqueue_ms = 0, wall_ms = 0;
  std::optional<std::int64_t> flush_bytes;
};
struct Profile {
  std::vector<Launch> launches;
};
struct Ceiling {
  std::vector<double> rates;
};
struct Count {
  std::map<std::string, std::optional<double>> values;  // null: the device has no such metric
};
struct Drop {
  std::optional<std::int64_t> free_bytes;
};
struct Bye {};
using Any =
    std::variant<Hello, Describe, Prepare, Output, Judge, Run, Profile, Ceiling, Count, Drop, Bye>;
}  // namespace reply

struct Reply {
  std::int64_t id = 0;
  Status status = Status::ok;  // ok, unsupported, oom or failed
  std::string reason;
  std::optional<std::int64_t> needed_bytes;  // with oom
  std::optional<reply::Any> body;            // with ok
  // With failed: a file could not be written (WriteError), which is no implementation's doing.
  bool unwritten = false;
};

struct Progress {
  std::int64_t id = 0;
  double done = 0, of = 0;
  std::string what;
};

// One line each, without the newline. The parsers throw ProtocolError, which quotes the start of
// the line.
std::string to_line(const Request&);
std::string to_line(const Reply&);
std::string to_line(const Progress&);
Request parse_request(const std::string& line);
std::variant<Reply, Progress> parse_answer(const std::string& line);

// What a reader of the tensors that `output` writes cannot see from their shapes: the JSON of
// case.json beside them. `rounded_scores` as in request::Judge.
std::string case_text(const request::Output&, const Problem&, bool rounded_scores);
// What such a text says of the problem beside its shapes; what it leaves out is nothing.
struct CaseFacts {
  std::optional<Dtype> dtype;
  std::optional<Mask> mask;
  std::optional<double> scale;
  std::optional<Layout> layout;
};
// Throws ProtocolError, which names the file.
CaseFacts parse_case_text(const std::string& text, const std::string& file);

}  // namespace flashbench
