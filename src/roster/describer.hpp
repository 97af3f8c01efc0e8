// Asks workers what an implementation would do with a problem; nothing runs.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "process/link.hpp"
#include "record/messages.hpp"
#include "roster/roster.hpp"

namespace flashbench {

class Describer {
 public:
  explicit Describer(const Roster& roster, double timeout_s = default_timeout_s)
      : roster_(roster), timeout_s_(timeout_s) {}
  ~Describer();
  Describer(const Describer&) = delete;
  Describer& operator=(const Describer&) = delete;

  struct Described {
    // not_run: nobody could be asked. oom: it cannot fit the device, and body says what it needs.
    Status status = Status::not_run;
    std::string reason;
    std::optional<reply::Describe> body;
  };
  Described ask(const Case&);

 private:
  const Roster& roster_;
  double timeout_s_;
  std::map<std::size_t, WorkerLink> sessions_;  // by worker
};

}  // namespace flashbench
