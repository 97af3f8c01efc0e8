// libflashbench-worker: everything a worker process does but the kernels. A worker's main is one
// call of serve.
#pragma once

#include <span>
#include <string>

#include "flashbench/attention.h"
#include "kernels/ceilings/ceilings.hpp"
#include "worker/device_backend.hpp"

namespace flashbench {

// Answers requests on `descriptor` until bye or until the other end closes; the exit code of main.
// A worker binary is started as `flashbench-worker-x --descriptor N`; its stdout and stderr are not
// the protocol.
// `source` is what hello says of where the implementations come from.
int serve(const FlashbenchPlugin&, std::span<const kernels::Ceiling>, DeviceBackend&,
          int descriptor, const std::string& source = "built-in");

}  // namespace flashbench
