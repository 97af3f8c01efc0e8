#include "plan/names.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "plan/glob.hpp"
#include "plan/request.hpp"
#include "plan/words.hpp"

namespace flashbench {

namespace {

constexpr std::int64_t hopper = 90;

std::vector<NamedImplementation> everyone(const Roster& roster) {
  std::vector<NamedImplementation> all;
  for (const WorkerFacts& worker : roster.workers)
    for (const ImplementationFacts& facts : worker.hello.implementations)
      all.push_back({facts.name, worker.source, worker.backend, facts.passes});
  return all;
}

bool is_rung(const std::string& name) {
  return name.find('/') != name.npos;
}

// A pattern without a slash leaves ladder/ and without/ out.
bool matches(const std::string& pattern, const std::string& name) {
  const std::string_view glob = pattern == "all" ? "*" : std::string_view(pattern);
  if (!is_rung(pattern) && is_rung(name)) return false;
  return glob_matches(glob, name);
}

bool runs_v3(const Roster& roster) {
  return std::ranges::any_of(roster.workers, [](const WorkerFacts& worker) {
    return worker.backend == Backend::cuda && worker.hello.device &&
           worker.hello.device->compute_capability == hopper;
  });
}

std::vector<std::string> default_names(const Roster& roster,
                                       const std::vector<NamedImplementation>& all) {
  std::vector<std::string> wanted{"naive", "v1", "v2"};
  if (runs_v3(roster)) wanted.emplace_back("v3");
  std::erase_if(wanted, [&](const std::string& name) {
    return std::ranges::none_of(all, [&](const auto& one) { return one.name == name; });
  });
  for (const NamedImplementation& one : all)  // whoever loads a plugin wants to see it
    if (one.source.starts_with("plugin:")) wanted.push_back(one.name);
  if (wanted.empty()) wanted.emplace_back("all");
  return wanted;
}

[[noreturn]] void refuse(const std::string& pattern, const Roster& roster,
                         const std::vector<NamedImplementation>& all, const std::string& called) {
  std::vector<std::string> names;
  for (const auto& one : all)
    if (std::ranges::find(names, one.name) == names.end()) names.push_back(one.name);
  std::string here =
      fmt::format("on {} there {}", roster.backend == Backend::cuda ? "this GPU" : "the CPU",
                  names.empty() ? "is none" : "are: " + listed(names));
  for (const WorkerFacts& worker : roster.workers)
    if (!worker.absent.empty() && worker.hello.implementations.empty())
      here += fmt::format("; what {} has is not known: {}", worker.source, worker.absent);
  if (is_glob(pattern))
    throw UsageError(
        fmt::format("{}: \"{}\" matches no implementation; {}", called, pattern, here));
  throw UsageError(fmt::format("{}: no implementation is called \"{}\"{} ({})", called, pattern,
                               did_you_mean(pattern, names), here));
}

}  // namespace

bool is_left_out(const NamedImplementation& one, Pass pass) {
  const auto has = [&](const char* name) { return std::ranges::count(one.passes, name) > 0; };
  if (one.is_spelt_out || !is_rung(one.name)) return false;
  return (pass != Pass::bwd && !has("fwd")) || (pass != Pass::fwd && !has("bwd"));
}

std::vector<NamedImplementation> resolve_names(const Sweep& sweep, const Roster& roster) {
  const std::vector<std::string>& patterns = sweep.impl;
  const std::vector<NamedImplementation> all = everyone(roster);
  std::vector<NamedImplementation> chosen;
  for (const std::string& pattern : patterns.empty() ? default_names(roster, all) : patterns) {
    bool any = false;
    for (const NamedImplementation& one : all) {
      if (!matches(pattern, one.name)) continue;
      any = true;
      const auto known = std::ranges::find_if(chosen, [&](const NamedImplementation& other) {
        return other.name == one.name && other.source == one.source && other.backend == one.backend;
      });
      NamedImplementation& same = known == chosen.end() ? chosen.emplace_back(one) : *known;
      same.is_spelt_out |= pattern == one.name;
    }
    if (!any) refuse(pattern, roster, all, sweep.called("impl"));
  }
  return chosen;
}

}  // namespace flashbench
