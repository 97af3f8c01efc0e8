// Two runs on one GPU take turns: figures measured at once would be of neither.
#pragma once

#include <functional>
#include <string>

namespace flashbench {

class GpuLock {
 public:
  using Say = std::function<void(const std::string&)>;
  // Waits while another process measures on that GPU, says once which one through `say`, and stops
  // waiting when `give_up` says so. Without a UUID (the CPU) it locks nothing. Where no lock file
  // can be had it says so and goes on without. Either function may be empty.
  GpuLock(const std::string& uuid, const Say& say, const std::function<bool()>& give_up);
  ~GpuLock();
  GpuLock(const GpuLock&) = delete;
  GpuLock& operator=(const GpuLock&) = delete;

  bool held() const { return held_; }

 private:
  int file_ = -1;
  bool held_ = false;
};

}  // namespace flashbench
