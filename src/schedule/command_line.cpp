#include <fmt/format.h>

#include "schedule/row_run.hpp"

namespace flashbench {

namespace {

std::string quoted(const std::string& word) {
  const bool plain = !word.empty() && word.find_first_not_of(
                                          "abcdefghijklmnopqrstuvwxyz"
                                          "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                          "0123456789+-_./:=,@%") == std::string::npos;
  if (plain) return word;
  std::string result = "'";
  for (const char letter : word)
    result += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return result + "'";
}

std::string of_others(const Options& options) {
  std::string line;
  for (const std::string& plugin : options.plugins) line += " --plugin " + quoted(plugin);
  for (const std::string& build : options.against) line += " --against " + quoted(build);
  return line;
}

// Only what differs from the defaults.
std::string measuring(const Options& options) {
  const Options defaults;
  std::string line;
  if (options.profile) return " --profile" + of_others(options);
  if (options.warmup) line += fmt::format(" --warmup {}", *options.warmup);
  if (options.iters) line += fmt::format(" --iters {}", *options.iters);
  if (options.min_samples != defaults.min_samples)
    line += fmt::format(" --samples {}", options.min_samples);
  if (options.time_budget_s != defaults.time_budget_s)
    line += fmt::format(" --time-budget {}", options.time_budget_s);
  if (options.precision != defaults.precision)
    line += fmt::format(" --precision {}%", options.precision * 100);
  if (options.timeout_s != defaults.timeout_s)
    line += fmt::format(" --timeout {}", options.timeout_s);
  if (options.check == Check::none) line += " --no-check";
  if (options.check == Check::only) line += " --check-only";
  if (options.counters) line += " --counters";
  return line + of_others(options);
}

}  // namespace

std::string command_line(const Case& what, const Options& options, const std::string& device) {
  const Problem& p = what.problem;
  std::string line = fmt::format(
      "flashbench --device {} --impl {} --pass {} --batch {} --heads {} --kv-heads {} --seq {} "
      "--seq-k {} --head-dim {} --dtype {} --mask {} --scale {} --layout {} --cache {}",
      device, quoted(what.impl), name(what.pass), p.batch, p.heads, p.kv_heads, p.seq_q, p.seq_k,
      p.head_dim, name(p.dtype), name(p.mask), p.scale, name(p.layout), name(what.cache));
  if (options.load_dir.empty())
    line += fmt::format(" --init {} --seed {}", name(p.init), options.seed);
  else
    line += " --load " + quoted(options.load_dir);
  if (p.deterministic) line += " --deterministic";
  return line + measuring(options);
}

}  // namespace flashbench
