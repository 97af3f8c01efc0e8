// SIGINT, SIGTERM, SIGHUP and SIGQUIT while a plan runs: the first one asks for a stop, the second
// ends everything at once.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

namespace flashbench {

// While it lives, the first signal only sets interrupted(); the second kills every registered
// process group, has the registered folder removed and ends this process with status 130. Restores
// the former handlers. A scope within another one changes nothing. For one thread alone.
class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

 private:
  struct Former;
  std::unique_ptr<Former> former_;  // null within another scope
};

bool interrupted();

// Process groups that the second signal kills, however many.
void register_process_group(pid_t);
void forget_process_group(pid_t);
// The one temporary folder that the second signal removes; empty: none.
void register_scratch(const std::string& path);

}  // namespace flashbench
