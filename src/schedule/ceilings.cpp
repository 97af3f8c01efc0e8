#include "schedule/ceilings.hpp"

#include <algorithm>
#include <cmath>

namespace flashbench {

namespace {

Reply ask(WorkerLink& worker, const request::Ceiling& ceiling) {
  try {
    return worker.ask(ceiling);
  } catch (const WorkerLost& lost) {
    throw CeilingLost(lost.what(), lost.timed_out);
  }
}

void measure_each(CeilingTable& table, const WorkerFacts& worker, double ms_each) {
  WorkerLink session = link_to(worker, default_timeout_s);
  for (const std::string& name : worker.hello.ceilings) {
    try {
      table.measure(session, name, ms_each);
    } catch (const WorkerLost&) {  // the next one gets a fresh process
    }
  }
  session.leave();
}

}  // namespace

void CeilingTable::measure(WorkerLink& worker, const std::string& name, double for_ms) {
  broken_.insert(name);  // until it has answered
  const Reply reply = ask(worker, {name, for_ms});
  if (reply.status == Status::oom) broken_.erase(name);  // another problem may leave room
  if (reply.status != Status::ok) return;
  for (const double rate : body_of<reply::Ceiling>(reply).rates)
    if (std::isfinite(rate) && rate > 0) rates_[name].push_back(rate);
  broken_.erase(name);
}

std::vector<Ceiling> CeilingTable::best() const {
  std::vector<Ceiling> result;
  for (const auto& [name, rates] : rates_)
    result.push_back({name, std::ranges::max(rates), static_cast<std::int64_t>(rates.size())});
  return result;
}

std::vector<Ceiling> measure_ceilings(const Roster& roster, double ms_each) {
  CeilingTable table;
  try {
    for (const WorkerFacts& worker : roster.workers)
      if (worker.source == "built-in") measure_each(table, worker, ms_each);
  } catch (const Interrupted&) {  // the user wants to stop, and keeps what there is
  }
  return table.best();
}

}  // namespace flashbench
