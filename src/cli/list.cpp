#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "cli/columns.hpp"
#include "cli/commands.hpp"
#include "cli/common_options.hpp"
#include "cli/parser.hpp"
#include "compare/exit_code.hpp"
#include "plan/words.hpp"
#include "roster/describer.hpp"
#include "roster/known.hpp"

namespace flashbench {

namespace {

Case probe(const WorkerFacts& worker, const std::string& impl, Pass pass, Dtype dtype,
           std::int64_t head_dim) {
  Case what;
  what.impl = impl;
  what.pass = pass;
  what.backend = worker.backend;
  what.source = worker.source;
  what.problem.dtype = dtype;
  what.problem.head_dim = head_dim;
  what.problem.seq_q = what.problem.seq_k = 128;
  what.problem.scale = 1;
  return what;
}

struct Support {
  std::vector<std::string> dtypes, head_dims, passes;
  std::string reason;  // of the first refusal
};

// Tries one small problem after another; whatever is not asked stays open.
Support support_of(Describer& describer, const WorkerFacts& worker,
                   const ImplementationFacts& facts) {
  Support found;
  const bool has_forward = std::ranges::count(facts.passes, "fwd") > 0;
  const Pass first = has_forward ? Pass::fwd : Pass::bwd;
  const auto yes = [&](Pass pass, Dtype dtype, std::int64_t head_dim) {
    const auto answer = describer.ask(probe(worker, facts.name, pass, dtype, head_dim));
    if (answer.status == Status::ok) return true;
    if (found.reason.empty()) found.reason = answer.reason;
    return false;
  };
  std::optional<Dtype> dtype;
  for (const Dtype one : {Dtype::fp16, Dtype::bf16, Dtype::fp32})
    if (yes(first, one, 64)) {
      found.dtypes.emplace_back(name(one));
      if (!dtype) dtype = one;
    }
  if (!dtype) return found;
  for (const Pass pass : {Pass::fwd, Pass::bwd, Pass::fwd_bwd})
    if (yes(pass, *dtype, 64)) found.passes.emplace_back(name(pass));
  for (const std::int64_t head_dim : {32, 40, 64, 72, 80, 96, 128, 192, 256})
    if (yes(first, *dtype, head_dim)) found.head_dims.push_back(fmt::format("{}", head_dim));
  return found;
}

std::string joined(const std::vector<std::string>& words) {
  return words.empty() ? "-" : listed(words);
}

std::string table_of(const Roster& roster) {
  Describer describer(roster);
  std::vector<std::vector<std::string>> lines{{"implementation", "passes", "dtypes",
                                               "head dims tried", "section", "idea",
                                               "not here because"}};
  for (const WorkerFacts& worker : roster.workers)
    for (const ImplementationFacts& facts : worker.hello.implementations) {
      const Support support = support_of(describer, worker, facts);
      lines.push_back({facts.name, joined(support.passes), joined(support.dtypes),
                       joined(support.head_dims), facts.section, facts.idea, support.reason});
    }
  return in_columns(lines);
}

void print_backend(const char* title, Backend backend, const char* device) {
  try {
    const Roster roster = call_roster(device);
    const auto& facts = roster.workers.front().hello.device;
    fmt::print("{}: {}\n{}\n", title, facts ? facts->name : "", table_of(roster));
  } catch (const DeviceError& error) {
    std::vector<std::vector<std::string>> lines{{"implementation", "section", "idea"}};
    const Roster known = known_roster(error, backend);
    for (const ImplementationFacts& facts : known.workers[0].hello.implementations)
      lines.push_back({facts.name, facts.section, facts.idea});
    fmt::print("{}: none of these can run here: {}\n{}\n", title, error.what(), in_columns(lines));
  }
}

Command command_table() {
  return {
      "list",
      "flashbench list",
      "Lists the implementations and what each supports on this machine, and why not. Sections\n"
      "are those of the document that flashbench follows.",
      "",
      "",
      0,
      0,
      {}};
}

}  // namespace

std::string list_help() {
  return help_of(command_table());
}

int list_command(const Arguments& arguments) {
  parse_arguments(command_table(), arguments);
  print_backend("CPU", Backend::cpu, "cpu");
  print_backend("GPU", Backend::cuda, "cuda");
  return exit_code::ok;
}

}  // namespace flashbench
