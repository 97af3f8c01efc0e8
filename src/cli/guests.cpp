#include "cli/guests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "cli/output.hpp"
#include "compare/compare.hpp"
#include "compare/exit_code.hpp"
#include "roster/guests.hpp"

namespace flashbench {

namespace {

bool asks_for_peers(const UserRequest& request) {
  return std::ranges::any_of(request.sweeps, [](const Sweep& sweep) {
    return std::ranges::any_of(sweep.impl, names_peers);
  });
}

Report rows_of(const Report& report, const std::string& source) {
  Report part = report;
  std::erase_if(part.rows, [&](const Row& row) { return row.what.source != source; });
  return part;
}

}  // namespace

void invite_guests(Roster& roster, const UserRequest& request) {
  const Options& options = request.options;
  invite(roster, {options.plugins, options.against, asks_for_peers(request), options.timeout_s});
}

void know_guests(Roster& roster, const UserRequest& request, const std::string& why) {
  if (asks_for_peers(request)) roster.workers.push_back(absent_peers(roster.backend, why));
  const auto leave_out = [&](const std::string& option) {
    WorkerFacts& worker = roster.workers.emplace_back();
    worker.source = option;
    worker.backend = roster.backend;
    worker.absent = why;
    roster.notices.push_back(
        fmt::format("{} is left out: only on the device could it be asked what it has", option));
  };
  for (const std::string& plugin : request.options.plugins) leave_out("--plugin " + plugin);
  for (const std::string& build : request.options.against) leave_out("--against " + build);
}

int compare_builds(const Report& report, const Roster& roster, const Options& options) {
  const bool to_stdout = !stdout_is_taken(options);
  CompareOptions how;
  how.threshold = options.threshold.value_or(how.threshold);
  how.strict = options.strict;
  how.across_sources = true;
  const Report ours = rows_of(report, "built-in");
  std::vector<int> codes{exit_code::ok};
  for (const WorkerFacts& worker : roster.workers) {
    if (!worker.source.starts_with("against:")) continue;
    const Comparison comparison = compare(rows_of(report, worker.source), ours, how);
    fmt::print(to_stdout ? stdout : stderr, "\nbase {}, new this build\n", worker.source);
    print_comparison(comparison, to_stdout);
    codes.push_back(comparison.exit_code);
  }
  return worst_exit_code(codes);
}

}  // namespace flashbench
