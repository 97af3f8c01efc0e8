// In the place of counters_cuda.cpp where the CUDA toolkit is older than CUPTI's range profiler.
#include "worker/answer.hpp"
#include "worker/counters.hpp"

namespace flashbench {

std::unique_ptr<HardwareCounters> open_counters(int) {
  throw Refusal(Status::unsupported,
                "built without CUPTI: reading hardware counters takes a build with the CUDA "
                "toolkit 12.6 or newer, which has cupti_range_profiler.h");
}

}  // namespace flashbench
