// A GPU as a device. Everything runs on one non-blocking stream. A sample is: a delay that outlasts
// the CPU's enqueueing of the rest, the flush, an event, the call, an event; so that the GPU never
// waits for the CPU between the events.
//
// An error that the CUDA context does not survive ends the process with a sentence on stderr: the
// front then finds out, one row a process, whose fault it was.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <vector>

#include "worker/counters.hpp"
#include "worker/device_backend.hpp"

namespace flashbench {

class CudaBackend : public DeviceBackend {
 public:
  CudaBackend();
  ~CudaBackend() override;
  // `device`: a CUDA ordinal.
  std::optional<DeviceFacts> open(const std::string& device, std::string* why) override;
  // Before open, and where open failed: the stand-in's.
  FlashbenchDevice device() const override { return device_; }
  std::string stand_in() const override { return "NVIDIA H200"; }
  void* allocate(std::int64_t bytes) override;
  void release(void*) override;
  void upload(void* device, const void* host, std::int64_t bytes) override;
  void download(void* host, const void* device, std::int64_t bytes) override;
  void fill(void* device, std::uint8_t byte, std::int64_t bytes) override;
  // Another function than the CPU's: computed on the GPU.
  std::uint64_t hash(const void* device, std::int64_t bytes) override;
  std::optional<std::int64_t> free_bytes() override;
  std::optional<std::int64_t> room_bytes() override;
  void* stream() override { return stream_; }
  void synchronize() override;
  std::int64_t flush_bytes() const override;
  void sample(const std::function<void()>& call, bool cold) override;
  // An NVTX range within cudaProfilerStart and cudaProfilerStop.
  void profile(const std::string& range, const std::function<void()>& call) override;
  // CUPTI's, opened at the first call.
  Counted count(const std::vector<std::string>& metrics, const std::function<void()>& call,
                bool cold) override;
  std::size_t pending_samples() const override { return pending_; }
  std::vector<double> collect_samples() override;

 private:
  struct Span {
    cudaEvent_t start = nullptr, stop = nullptr;
  };
  Span& next_span();
  void prepare_flush();
  void flush();

  FlashbenchDevice device_;
  double clock_hz_ = 0;  // the highest
  cudaStream_t stream_ = nullptr;
  void* flush_ = nullptr;
  unsigned long long* sum_ = nullptr;  // 16 bytes: the hash's sum, and the flush's sink behind it
  std::vector<Span> spans_;
  std::size_t pending_ = 0;
  std::unique_ptr<HardwareCounters> counters_;
  double enqueue_s_ = 0;  // what the CPU took for a sample lately, at most
};

}  // namespace flashbench
