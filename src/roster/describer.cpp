#include "roster/describer.hpp"

#include "roster/description.hpp"

namespace flashbench {

Describer::~Describer() {
  for (auto& [worker, session] : sessions_) session.leave();
}

Describer::Described Describer::ask(const Case& what) {
  for (std::size_t i = 0; i < roster_.workers.size(); ++i) {
    const WorkerFacts& worker = roster_.workers[i];
    if (worker.source != what.source || worker.backend != what.backend) continue;
    if (!worker.absent.empty()) return {Status::unsupported, worker.absent, {}};
    if (worker.program.empty()) continue;
    try {
      WorkerLink& session = sessions_.try_emplace(i, link_to(worker, timeout_s_)).first->second;
      const Reply reply = session.ask(request::Describe{what.problem, what.impl, what.pass});
      if (reply.status != Status::ok) return {reply.status, reply.reason, {}};
      const auto& body = body_of<reply::Describe>(reply);
      const Objection objection = objection_to(body);
      if (objection.status == Status::failed) return {objection.status, objection.reason, {}};
      return {objection.status, objection.reason, body};
    } catch (const WorkerLost& lost) {
      return {Status::not_run, lost.what(), {}};
    }
  }
  return {};
}

}  // namespace flashbench
