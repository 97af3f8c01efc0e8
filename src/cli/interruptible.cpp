#include "cli/interruptible.hpp"

#include "cli/console.hpp"
#include "compare/exit_code.hpp"
#include "process/interrupt.hpp"
#include "process/link.hpp"

namespace flashbench {

int interruptible(const std::function<int()>& command) {
  const InterruptScope scope;  // from the workers' start until all is written
  try {
    return command();
  } catch (const Interrupted&) {
  } catch (const std::exception&) {
    if (!interrupted()) throw;  // else it fails for a worker that was not waited for
  }
  print_error("flashbench: interrupted before it was done\n");
  return exit_code::interrupted;
}

}  // namespace flashbench
