// What a user asked for, after cli/ and the config reader understood it. Plain data; nothing here
// touches a machine.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "record/errors.hpp"
#include "record/messages.hpp"
#include "record/problem.hpp"

namespace flashbench {

// "auto" in a list of batch, heads or kv_heads: resolved by the plan.
inline constexpr std::int64_t automatic = -1;

// One cartesian product. An empty list means the default of interface.md (which may depend on the
// backend).
struct Sweep {
  std::vector<std::string> impl;  // names or globs
  std::vector<Pass> pass;
  std::vector<std::int64_t> seq, seq_k, batch, heads, kv_heads, head_dim;
  std::vector<Dtype> dtype;
  std::vector<Mask> mask;
  std::vector<double> scale;
  std::vector<Layout> layout;
  std::vector<Init> init;
  std::vector<Cache> cache;
  std::optional<double> threshold;           // of this sweep, relative
  std::optional<Backend> backend;            // where the sweep is run; on the other it is left out
  std::string place;                         // in a config: "c.json: $.sweeps[1]"
  std::set<std::string, std::less<>> flags;  // axes that flags gave instead

  // What the user calls an axis that was given: "--seq", or "c.json: $.sweeps[1].seq".
  std::string called(std::string_view axis) const {
    const std::string before = place.empty() || flags.contains(axis) ? "--" : place + ".";
    return before + std::string(axis);
  }
};

enum class Check { full, only, none };

struct Options {
  std::string device = "auto";  // auto, cpu, cuda, or an ordinal
  std::uint64_t seed = 1;
  std::optional<std::int64_t> warmup, iters;
  std::int64_t min_samples = 10;
  double time_budget_s = 1, precision = 0.005, timeout_s = default_timeout_s;
  Check check = Check::full;
  bool deterministic = false, dry_run = false, strict = false, counters = false, profile = false,
       explain = false, allow_different = false;
  std::optional<double> peak_tflops, threshold;
  std::string filter, label, load_dir, dump_dir, resume_file, baseline_file, pivot, view;
  std::vector<std::string> plugins, against;
  std::map<std::string, std::string> outputs;            // by format: the file; "-" is stdout
  std::string output(const std::string& format) const {  // empty where there is none
    const auto found = outputs.find(format);
    return found == outputs.end() ? "" : found->second;
  }
};

// What the files of --load say of the problem (read_loaded).
struct LoadedFiles {
  std::string dir;
  std::vector<std::int64_t> q, k, v, d_o;  // shapes; d_o is empty where no backward asks for it
  std::optional<CaseFacts> dumped;         // of a folder that --dump wrote
};

struct UserRequest {
  std::vector<Sweep> sweeps;
  Options options;
  std::vector<std::string> argv;
  std::optional<LoadedFiles> loaded = {};
};

}  // namespace flashbench
