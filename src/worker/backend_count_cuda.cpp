#include "worker/backend_cuda.hpp"

namespace flashbench {

CudaBackend::Counted CudaBackend::count(const std::vector<std::string>& metrics,
                                        const std::function<void()>& call, bool cold) {
  if (!counters_) counters_ = open_counters(device_.ordinal);
  if (metrics.empty()) return {};
  if (cold) prepare_flush();
  const auto run = [&] {
    call();
    synchronize();
  };
  run();  // what is loaded at the first launch is not counted
  const auto before = [&] {
    if (cold) flush();
    synchronize();
  };
  return counters_->count(metrics, before, run);
}

}  // namespace flashbench
