// How a command that measures ends when a signal stops it.
#pragma once

#include <functional>

namespace flashbench {

// The exit code of `command`, which runs within an InterruptScope and itself says and writes what
// had finished. One that a signal ended before it could is said to be interrupted here.
int interruptible(const std::function<int()>& command);

}  // namespace flashbench
