#include "worker/parallel.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace flashbench {

int usable_threads() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return std::max(CPU_COUNT(&allowed), 1);
  return std::max(static_cast<int>(std::thread::hardware_concurrency()), 1);
}

void parallel_for(std::int64_t count, const std::function<void(std::int64_t)>& body,
                  std::int64_t most) {
  std::atomic<std::int64_t> next{0};
  std::mutex guard;
  std::exception_ptr failure;
  const auto work = [&] {
    try {
      for (std::int64_t i = next++; i < count; i = next++) body(i);
    } catch (...) {
      const std::lock_guard<std::mutex> lock(guard);
      if (!failure) failure = std::current_exception();
      next = count;
    }
  };
  std::vector<std::jthread> others;
  const std::int64_t threads = std::min({count, most, std::int64_t{usable_threads()}});
  for (std::int64_t i = 1; i < threads; ++i) others.emplace_back(work);
  work();
  others.clear();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace flashbench
