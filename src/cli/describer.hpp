// Asks workers what an implementation would do with a problem; nothing runs.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "record/messages.hpp"
#include "roster/roster.hpp"
#include "schedule/session.hpp"

namespace flashbench {

class Describer {
 public:
  explicit Describer(const Roster& roster) : roster_(roster) {}
  ~Describer();
  Describer(const Describer&) = delete;
  Describer& operator=(const Describer&) = delete;

  struct Answer {
    Status status = Status::not_run;  // not_run: nobody could be asked
    std::string reason;
    std::optional<reply::Describe> body;
  };
  Answer ask(const Case&);

 private:
  const Roster& roster_;
  std::map<std::size_t, WorkerLink> sessions_;  // by worker
};

}  // namespace flashbench
