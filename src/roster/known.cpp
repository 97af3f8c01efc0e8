#include "roster/known.hpp"

#include "kernels/index.hpp"

namespace flashbench {

namespace {

ImplementationFacts facts_of(const kernels::Facts& known) {
  ImplementationFacts facts{known.name, known.idea, known.section, {}};
  if (known.passes & FLASHBENCH_FORWARD) facts.passes.emplace_back("fwd");
  if (known.passes & FLASHBENCH_BACKWARD) facts.passes.emplace_back("bwd");
  return facts;
}

WorkerFacts known_worker(Backend backend) {
  WorkerFacts worker;
  worker.source = "built-in";
  worker.backend = backend;
  kernels::Index::each([&]<class T>() {
    if (backend == Backend::cpu ? kernels::OnCpu<T> : kernels::OnCuda<T>)
      worker.hello.implementations.push_back(facts_of(T::facts));
  });
  return worker;
}

}  // namespace

Roster known_roster(const DeviceError& error, Backend backend) {
  Roster roster;
  roster.backend = backend;
  roster.workers.push_back(error.planner ? *error.planner : known_worker(backend));
  return roster;
}

Roster roster_or_known(const std::string& device, double timeout_s, std::string* why) {
  try {
    return call_roster(device, timeout_s);
  } catch (const DeviceError& error) {
    *why = error.what();
    return known_roster(error, device == "auto" || device == "cpu" ? Backend::cpu : Backend::cuda);
  }
}

}  // namespace flashbench
