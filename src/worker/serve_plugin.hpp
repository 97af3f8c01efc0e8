// A table of implementations that somebody else wrote: looked over before it is served.
#pragma once

#include <string>

#include "worker/device_backend.hpp"

namespace flashbench {

// Why the table cannot be served on this backend; empty when it can.
std::string flaw_of(const FlashbenchPlugin*, FlashbenchBackend);
// What flashbench_serve (flashbench/worker.h) does, on this backend.
int serve_plugin(const FlashbenchPlugin*, const char* name, FlashbenchBackend, DeviceBackend&,
                 int descriptor);

}  // namespace flashbench
