// Host errors of the CUDA kernels: typed, with file, line and call; turned into a FlashbenchStatus
// at the public seam.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdio>
#include <stdexcept>
#include <string>

#include "flashbench/attention.h"

namespace flashbench::kernels {

struct Failure : std::runtime_error {
  Failure(FlashbenchStatus status_, const std::string& what)
      : std::runtime_error(what), status(status_) {}
  FlashbenchStatus status;
};

inline void check_cuda(cudaError_t error, const char* call, const char* file, int line) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // what was reported here is not reported again by the next call
  throw Failure(error == cudaErrorMemoryAllocation ? FLASHBENCH_OUT_OF_MEMORY : FLASHBENCH_FAILED,
                std::string(call) + ": " + cudaGetErrorString(error) + " (" + file + ":" +
                    std::to_string(line) + ")");
}
#define FLASHBENCH_CUDA(call) ::flashbench::kernels::check_cuda(call, #call, __FILE__, __LINE__)

inline FlashbenchStatus say(FlashbenchStatus status, FlashbenchMessage* message,
                            const std::string& text) {
  if (message) std::snprintf(message->text, sizeof message->text, "%s", text.c_str());
  return status;
}
inline FlashbenchStatus unsupported(FlashbenchMessage* message, const std::string& reason) {
  return say(FLASHBENCH_UNSUPPORTED, message, reason);
}

// Runs `body`, which may throw or return a status.
template <class Body>
FlashbenchStatus guarded(FlashbenchMessage* message, Body body) {
  try {
    return body();
  } catch (const Failure& failure) {
    return say(failure.status, message, failure.what());
  } catch (const std::bad_alloc&) {
    return say(FLASHBENCH_OUT_OF_MEMORY, message, "the host has no memory left");
  } catch (const std::exception& error) {
    return say(FLASHBENCH_FAILED, message, error.what());
  }
}

}  // namespace flashbench::kernels
