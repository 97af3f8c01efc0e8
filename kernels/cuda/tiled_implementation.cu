#include "kernels/cuda/tiled_implementation.hpp"

#include <cmath>
#include <memory>

#include "kernels/cuda/problem.hpp"

namespace flashbench::kernels {
namespace {

struct TiledInstance {
  ForwardInstance forward;
  BackwardPlan backward;
};

FlashbenchStatus check_architecture(const Architectures& built, const FlashbenchDevice& device,
                                    FlashbenchMessage* message) {
  const int here = device.compute_capability;
  if (built.first <= here && here <= built.last) return FLASHBENCH_OK;
  std::string names = "sm_" + std::to_string(built.first);
  if (built.last != built.first) names += " to sm_" + std::to_string(built.last);
  return unsupported(message, "built for " + names + " alone, this device is sm_" +
                                  std::to_string(here) +
                                  " (CMAKE_CUDA_ARCHITECTURES chooses for what to build)");
}

}  // namespace

FlashbenchStatus supports(const TiledPasses& tiled, const FlashbenchProblem& p,
                          const FlashbenchDevice& device, FlashbenchMessage* message) {
  if (auto status = check_problem(p, device, tiled.has, message); status != FLASHBENCH_OK)
    return status;
  if (auto status = check_architecture(tiled.architectures, device, message);
      status != FLASHBENCH_OK)
    return status;
  const double scale = std::abs(p.scale);
  if (!(scale == 0 || (scale >= 1e-30 && scale <= 1e30)))
    return unsupported(message, "scale must be 0 or lie between 1e-30 and 1e30 in size");
  if (p.passes & FLASHBENCH_FORWARD)
    if (auto status = supports(tiled.forward, p, device, message); status != FLASHBENCH_OK)
      return status;
  if (p.passes & FLASHBENCH_BACKWARD) return supports(*tiled.backward, p, device, message);
  return FLASHBENCH_OK;
}

FlashbenchStatus cost(const TiledPasses& tiled, const FlashbenchProblem& p,
                      const FlashbenchDevice& device, uint32_t passes, FlashbenchCost* out,
                      FlashbenchMessage* message) {
  FlashbenchProblem asked = p;
  asked.passes = passes;
  if (auto status = supports(tiled, asked, device, message); status != FLASHBENCH_OK) return status;
  *out = {};
  if (passes & FLASHBENCH_FORWARD) add_cost(tiled.forward, p, out);
  if (passes & FLASHBENCH_BACKWARD) add_cost(*tiled.backward, p, out);
  out->saves =
      tiled.forward.rung.saved == Saved::m_and_l ? FLASHBENCH_SAVES_M_AND_L : FLASHBENCH_SAVES_LSE;
  return FLASHBENCH_OK;
}

// Forward and backward use the workspace one after the other.
FlashbenchStatus create(const TiledPasses& tiled, const FlashbenchProblem& p,
                        const FlashbenchDevice& device, void* workspace, FlashbenchInstance* out,
                        FlashbenchMessage* message) {
  return guarded(message, [&] {
    *out = {};
    if (auto status = supports(tiled, p, device, message); status != FLASHBENCH_OK) return status;
    FLASHBENCH_CUDA(cudaSetDevice(device.ordinal));
    auto instance = std::make_unique<TiledInstance>();
    if (p.passes & FLASHBENCH_FORWARD)
      instance->forward = create(tiled.forward, p, device, workspace, out);
    if (p.passes & FLASHBENCH_BACKWARD)
      instance->backward = create(*tiled.backward, p, device, workspace, out);
    out->state = instance.release();
    return FLASHBENCH_OK;
  });
}

FlashbenchStatus run_forward(void* state, const FlashbenchForward* f, void* stream,
                             FlashbenchMessage* message) {
  return guarded(message, [&] {
    return launch(static_cast<const TiledInstance*>(state)->forward, *f, stream, message);
  });
}

FlashbenchStatus run_backward(void* state, const FlashbenchBackward* b, void* stream,
                              FlashbenchMessage* message) {
  return guarded(message, [&] {
    return launch(static_cast<const TiledInstance*>(state)->backward, *b, stream, message);
  });
}

void destroy_tiled(void* state) {
  delete static_cast<TiledInstance*>(state);
}

}  // namespace flashbench::kernels
