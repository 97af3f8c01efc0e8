// A loop over the cores this process may use.
#pragma once

#include <cstdint>
#include <functional>

namespace flashbench {

// Threads by affinity; at least 1.
int usable_threads();
// Calls body(i) for each i in 0 ... count - 1, in any order, on up to usable_threads() threads (and
// no more than `most`), this one among them; the first exception is thrown again here after all
// have stopped.
void parallel_for(std::int64_t count, const std::function<void(std::int64_t)>& body,
                  std::int64_t most = INT64_MAX);

}  // namespace flashbench
