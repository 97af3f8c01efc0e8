// What libflashbench-worker needs of a device: memory, copies, a timer around one call, the cache
// flush. One class a backend.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "flashbench/attention.h"
#include "record/row.hpp"

namespace flashbench {

// Thrown by any of the below; out_of_memory tells oom from the rest.
struct DeviceFailure : std::runtime_error {
  DeviceFailure(const std::string& what, bool memory)
      : std::runtime_error(what), out_of_memory(memory) {}
  bool out_of_memory;
};

class DeviceBackend {
 public:
  virtual ~DeviceBackend() = default;
  // Null and a reason in *why when this machine has no such device. Called before anything else.
  virtual std::optional<DeviceFacts> open(const std::string& device, std::string* why) = 0;
  virtual FlashbenchDevice device() const = 0;
  // Where no device is open: whose figures device() gives all the same; empty: nobody's.
  virtual std::string stand_in() const { return {}; }
  virtual void* allocate(std::int64_t bytes) = 0;  // 256-byte aligned
  virtual void release(void*) = 0;
  virtual void upload(void* device, const void* host, std::int64_t bytes) = 0;
  virtual void download(void* host, const void* device, std::int64_t bytes) = 0;
  virtual void fill(void* device, std::uint8_t byte, std::int64_t bytes) = 0;
  virtual std::uint64_t hash(const void* device, std::int64_t bytes) = 0;
  virtual std::optional<std::int64_t> free_bytes() = 0;
  // The most that a problem could ever get; nothing where that is not known.
  virtual std::optional<std::int64_t> room_bytes() { return free_bytes(); }
  virtual void* stream() = 0;
  virtual void synchronize() = 0;
  virtual std::int64_t flush_bytes() const = 0;  // read before each cold sample, outside the time
  // Enqueues one timed sample (flush first if cold) of `call`, which only enqueues; times come from
  // collect_samples.
  virtual void sample(const std::function<void()>& call, bool cold) = 0;
  // Runs `call`, which only enqueues, once and to its end; a profiler finds it by that name.
  virtual void profile(const std::string& range, const std::function<void()>& call) {
    static_cast<void>(range);
    call();
    synchronize();
  }
  // The hardware's counters by metric over one run of `call`, which only enqueues, the cache as
  // sample leaves it; nothing for a metric that the device does not know. No metrics: whether there
  // are counters at all. Throws Refusal where there are none, or counting fails.
  using Counted = std::map<std::string, std::optional<double>>;
  virtual Counted count(const std::vector<std::string>& metrics, const std::function<void()>& call,
                        bool cold) = 0;
  virtual std::size_t pending_samples() const = 0;
  virtual std::vector<double> collect_samples() = 0;  // ms each, in order; synchronises
};

}  // namespace flashbench
