// The CPU as a device: memory is the host's, a sample is a call between two readings of
// steady_clock, and the flush reads every core's L2 twice over.
#pragma once

#include <vector>

#include "worker/device_backend.hpp"

namespace flashbench {

class CpuBackend : public DeviceBackend {
 public:
  CpuBackend();
  std::optional<DeviceFacts> open(const std::string& device, std::string* why) override;
  FlashbenchDevice device() const override { return device_; }
  void* allocate(std::int64_t bytes) override;
  void release(void*) override;
  void upload(void* device, const void* host, std::int64_t bytes) override;
  void download(void* host, const void* device, std::int64_t bytes) override;
  void fill(void* device, std::uint8_t byte, std::int64_t bytes) override;
  std::uint64_t hash(const void* device, std::int64_t bytes) override;
  // What can be had without swapping and without meeting a container's limit, less a reserve.
  std::optional<std::int64_t> free_bytes() override;
  void* stream() override { return nullptr; }
  void synchronize() override {}
  std::int64_t flush_bytes() const override;
  void sample(const std::function<void()>& call, bool cold) override;
  // Refuses: see what CPU implementations count for themselves.
  Counted count(const std::vector<std::string>& metrics, const std::function<void()>& call,
                bool cold) override;
  std::size_t pending_samples() const override { return samples_.size(); }
  std::vector<double> collect_samples() override;

 private:
  void flush();

  FlashbenchDevice device_{};
  std::vector<std::byte> flush_;
  std::vector<double> samples_;
};

}  // namespace flashbench
