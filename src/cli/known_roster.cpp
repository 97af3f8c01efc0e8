#include "cli/known_roster.hpp"

namespace flashbench {

Roster known_roster(Backend backend) {
  WorkerFacts worker;
  worker.source = "built-in";
  worker.backend = backend;
  const std::vector<std::string> passes{"fwd", "bwd"};
  worker.hello.implementations = {
      {"naive", "S and P are materialised", "2", passes},
      {"v1", "K and V in the outer loop; warps split along K and V", "2.1", passes},
      {"v2", "Q in the outer loop; warps split along Q", "2.3", passes},
  };
  if (backend == Backend::cuda)
    worker.hello.implementations.push_back({"v3", "wgmma and TMA on Hopper", "", passes});
  Roster roster;
  roster.backend = backend;
  roster.workers.push_back(std::move(worker));
  return roster;
}

Roster roster_or_known(const std::string& device, std::string* why) {
  try {
    return call_roster(device);
  } catch (const DeviceError& error) {
    *why = error.what();
    return known_roster(device == "auto" || device == "cpu" ? Backend::cpu : Backend::cuda);
  }
}

}  // namespace flashbench
