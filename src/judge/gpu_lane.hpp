// A stream with room for what one call of the GPU's reference needs.
#pragma once

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "judge/reference_cuda.hpp"
#include "worker/answer.hpp"

namespace flashbench::judge {

// Throws Refusal.
inline void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  cudaGetLastError();
  throw Refusal(error == cudaErrorMemoryAllocation ? Status::oom : Status::failed,
                fmt::format("the judge's GPU: {}", cudaGetErrorString(error)));
}

class DeviceBytes {
 public:
  explicit DeviceBytes(std::size_t bytes) {
    check(cudaMalloc(&data_, std::max<std::size_t>(bytes, 1)));
  }
  ~DeviceBytes() { cudaFree(data_); }
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;
  std::byte* data() const { return static_cast<std::byte*>(data_); }

 private:
  void* data_ = nullptr;
};

// Host memory that the device copies to at the bus's speed, without the driver's own buffer.
class PinnedBytes {
 public:
  explicit PinnedBytes(std::size_t bytes) {
    check(cudaMallocHost(&data_, std::max<std::size_t>(bytes, 1)));
  }
  ~PinnedBytes() { cudaFreeHost(data_); }
  PinnedBytes(const PinnedBytes&) = delete;
  PinnedBytes& operator=(const PinnedBytes&) = delete;
  std::byte* data() const { return static_cast<std::byte*>(data_); }

 private:
  void* data_ = nullptr;
};

// A stream, and copies on it.
class Stream {
 public:
  Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  cudaStream_t get() const { return stream_; }
  void wait() { check(cudaStreamSynchronize(stream_)); }
  template <class T>
  void send(T* to, const std::vector<T>& from) {
    check(
        cudaMemcpyAsync(to, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice, stream_));
  }
  template <class T>
  void fetch(T* to, const T* from, std::int64_t count) {
    check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(count) * sizeof(T),
                          cudaMemcpyDeviceToHost, stream_));
  }

 private:
  cudaStream_t stream_ = nullptr;
};

// What the device says of some rows of one head; the lane's, until it runs again.
struct RowResults {
  std::span<const double> o, lse, top;
  std::span<const float> comparator;
};

class Lane {
 public:
  Lane(std::int64_t rows, std::int64_t d)
      : rows_(rows),
        d_(d),
        memory_(static_cast<std::size_t>(rows * (d * 12 + 64) + 256)),
        fetched_(static_cast<std::size_t>(rows * (d * 12 + 16))) {}

  bool fits(std::int64_t rows, std::int64_t d) const { return rows <= rows_ && d <= d_; }
  // `head`: one head of one batch, with as many query rows as are wanted.
  RowResults run(const FlashbenchProblem& head, const FlashbenchForward& inputs) {
    const auto rows = static_cast<std::size_t>(head.seq_q);
    const auto elements = rows * static_cast<std::size_t>(head.head_dim);
    auto* o = reinterpret_cast<double*>(memory_.data());
    double* lse = o + elements;
    double* top = lse + rows;
    auto* comparator = reinterpret_cast<float*>(top + rows);
    FlashbenchMessage message{};
    if (reference_forward(head, inputs, {o, lse, top, comparator}, stream_.get(), &message) !=
        FLASHBENCH_OK)
      throw Refusal(Status::failed, fmt::format("the judge's GPU: {}", message.text));
    // They lie behind each other on the device, and so they do here.
    const std::size_t bytes = elements * 12 + rows * 16;
    stream_.fetch(fetched_.data(), memory_.data(), static_cast<std::int64_t>(bytes));
    stream_.wait();
    const auto* here = reinterpret_cast<const double*>(fetched_.data());
    return {{here, elements},
            {here + elements, rows},
            {here + elements + rows, rows},
            {reinterpret_cast<const float*>(here + elements + 2 * rows), elements}};
  }
  // The largest error a slot over the tasks, against the O that the last run left, or that
  // put_exact put there.
  std::vector<float> draw(const FlashbenchProblem& head, const FlashbenchForward& inputs,
                          const std::vector<DrawTask>& tasks, std::size_t slots,
                          bool rounded_scores) {
    const auto elements = static_cast<std::size_t>(head.seq_q * head.head_dim);
    auto* exact = reinterpret_cast<double*>(memory_.data());
    auto* device_tasks = reinterpret_cast<DrawTask*>(exact + elements);
    auto* errors = reinterpret_cast<float*>(device_tasks + tasks.size());
    std::vector<float> found(slots, 0.0f);
    stream_.send(device_tasks, tasks);
    stream_.send(errors, found);
    const Drawing drawing{exact, device_tasks, static_cast<int>(tasks.size()), rounded_scores,
                          errors};
    FlashbenchMessage message{};
    if (draw_forward(head, inputs, drawing, stream_.get(), &message) != FLASHBENCH_OK)
      throw Refusal(Status::failed, fmt::format("the judge's GPU: {}", message.text));
    stream_.fetch(found.data(), errors, static_cast<std::int64_t>(slots));
    stream_.wait();
    return found;
  }
  void put_exact(const std::vector<double>& o) {
    stream_.send(reinterpret_cast<double*>(memory_.data()), o);
  }

 private:
  std::int64_t rows_, d_;
  DeviceBytes memory_;
  PinnedBytes fetched_;
  Stream stream_;
};

}  // namespace flashbench::judge
