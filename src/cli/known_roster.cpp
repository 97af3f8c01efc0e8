#include "cli/known_roster.hpp"

namespace flashbench {

namespace {

WorkerFacts known_worker(Backend backend) {
  WorkerFacts worker;
  worker.source = "built-in";
  worker.backend = backend;
  const std::vector<std::string> passes{"fwd"};
  worker.hello.implementations = {
      {"naive", "two products, the whole S x S matrix in memory between them", "5.2, 8.2", passes},
      {"v1", "K/V outer, O through memory and normalised in every step", "1.1, 2.1, 3.2, 4.1",
       passes},
      {"v2", "Q outer, O in fast memory, one division at the end", "2.2, 3.2, 4.2, 5.3, 6.1",
       passes},
  };
  return worker;
}

}  // namespace

Roster known_roster(const DeviceError& error, Backend backend) {
  Roster roster;
  roster.backend = backend;
  roster.workers.push_back(error.planner ? *error.planner : known_worker(backend));
  return roster;
}

Roster roster_or_known(const Options& options, std::string* why) {
  const std::string& device = options.device;
  try {
    return call_roster(device, options.timeout_s);
  } catch (const DeviceError& error) {
    *why = error.what();
    return known_roster(error, device == "auto" || device == "cpu" ? Backend::cpu : Backend::cuda);
  }
}

}  // namespace flashbench
