#include "worker/backend_cuda.hpp"

#include <cuda_profiler_api.h>
#include <fmt/format.h>
#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "worker/device_kernels.hpp"

namespace flashbench {

namespace {

constexpr std::int64_t alignment = 256;

// Whether the context answers still. After an illegal address and its like it never does again.
bool context_lives() {
  return cudaDeviceSynchronize() == cudaSuccess;
}

void check(cudaError_t error, const char* doing) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // what is reported here is not reported again by the next call
  const std::string what =
      fmt::format("{}: {} ({})", doing, cudaGetErrorString(error), cudaGetErrorName(error));
  if (error == cudaErrorMemoryAllocation) throw DeviceFailure(what, true);
  if (context_lives()) throw DeviceFailure(what, false);
  std::fprintf(stderr, "the GPU's context is lost: %s\n", what.c_str());
  std::_Exit(1);
}

std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

std::string no_devices(cudaError_t error) {
  cudaGetLastError();
  int driver = 0, runtime = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  if (driver == 0) return "no NVIDIA driver is loaded (libcuda.so.1 was not found)";
  if (error == cudaErrorInsufficientDriver)
    return fmt::format("the driver is made for CUDA {} and this program needs {}",
                       version_text(driver), version_text(runtime));
  return fmt::format("{} (driver for CUDA {})", cudaGetErrorString(error), version_text(driver));
}

// As NVML and nvidia-smi print it.
std::string uuid_text(const cudaUUID_t& uuid) {
  std::string text = "GPU";
  for (int i = 0; i < 16; ++i)
    text += fmt::format("{}{:02x}", i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                        static_cast<unsigned char>(uuid.bytes[i]));
  return text;
}

double highest_clock_hz(int ordinal) {
  int khz = 0;
  if (cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, ordinal) != cudaSuccess) khz = 0;
  return khz > 0 ? khz * 1e3 : 2e9;
}

FlashbenchDevice device_of(int ordinal, const cudaDeviceProp& properties) {
  FlashbenchDevice device{};
  device.backend = FLASHBENCH_CUDA;
  device.ordinal = ordinal;
  device.compute_capability = 10 * properties.major + properties.minor;
  device.multiprocessors = properties.multiProcessorCount;
  device.shared_bytes_per_block = static_cast<std::int64_t>(properties.sharedMemPerBlockOptin);
  device.shared_bytes_per_multiprocessor =
      static_cast<std::int64_t>(properties.sharedMemPerMultiprocessor);
  device.l2_bytes = properties.l2CacheSize;
  device.memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
  return device;
}

DeviceFacts facts_of(const FlashbenchDevice& device, const cudaDeviceProp& properties) {
  DeviceFacts facts;
  facts.backend = Backend::cuda;
  facts.name = properties.name;
  facts.uuid = uuid_text(properties.uuid);
  facts.pci = fmt::format("{:08x}:{:02x}:{:02x}.0", properties.pciDomainID, properties.pciBusID,
                          properties.pciDeviceID);
  int runtime = 0;
  if (cudaRuntimeGetVersion(&runtime) == cudaSuccess) facts.cuda = version_text(runtime);
  facts.multiprocessors = device.multiprocessors;
  facts.memory_bytes = device.memory_bytes;
  facts.l2_bytes = device.l2_bytes;
  facts.shared_bytes_per_block = device.shared_bytes_per_block;
  facts.shared_bytes_per_multiprocessor = device.shared_bytes_per_multiprocessor;
  facts.compute_capability = device.compute_capability;
  facts.ordinal = device.ordinal;
  facts.clock_mhz = highest_clock_hz(device.ordinal) / 1e6;
  return facts;
}

// The stand-in by whose figures costs are told where no GPU can be opened: see stand_in().
FlashbenchDevice h200() {
  FlashbenchDevice device{};
  device.backend = FLASHBENCH_CUDA;
  device.compute_capability = 90;
  device.multiprocessors = 132;
  device.shared_bytes_per_block = 232448;
  device.shared_bytes_per_multiprocessor = 233472;
  device.l2_bytes = 62914560;
  device.memory_bytes = 150109880320;
  return device;
}

// What a profiler sees of a pass; it ends with this, also where the pass fails.
class ProfiledRange {
 public:
  explicit ProfiledRange(const std::string& name) {
    cudaProfilerStart();
    nvtxRangePushA(name.c_str());
  }
  ~ProfiledRange() {
    nvtxRangePop();
    cudaProfilerStop();
  }
  ProfiledRange(const ProfiledRange&) = delete;
  ProfiledRange& operator=(const ProfiledRange&) = delete;
};

}  // namespace

CudaBackend::CudaBackend() : device_(h200()) {}

CudaBackend::~CudaBackend() {
  for (const Span& span : spans_) {
    cudaEventDestroy(span.start);
    cudaEventDestroy(span.stop);
  }
  cudaFree(flush_);
  cudaFree(sum_);
  if (stream_) cudaStreamDestroy(stream_);
}

std::optional<DeviceFacts> CudaBackend::open(const std::string& device, std::string* why) {
  const auto refuse = [&](std::string reason) {
    if (why) *why = std::move(reason);
    return std::nullopt;
  };
  int count = 0;
  if (const cudaError_t error = cudaGetDeviceCount(&count); error != cudaSuccess)
    return refuse(no_devices(error));
  if (count == 0) return refuse("the driver shows no GPU");
  int ordinal = -1;
  const auto end = device.data() + device.size();
  const auto [stop, bad] = std::from_chars(device.data(), end, ordinal);
  if (bad != std::errc() || stop != end || ordinal < 0 || ordinal >= count)
    return refuse(fmt::format("device {} is not one of the {} here: 0{}", device, count,
                              count > 1 ? fmt::format(" to {}", count - 1) : ""));
  cudaDeviceProp properties{};
  cudaError_t error = cudaSetDevice(ordinal);
  if (error == cudaSuccess) error = cudaGetDeviceProperties(&properties, ordinal);
  if (error == cudaSuccess && !stream_)
    error = cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking);
  if (error == cudaSuccess && !sum_)
    error = cudaMalloc(reinterpret_cast<void**>(&sum_), 2 * sizeof *sum_);
  if (error != cudaSuccess) {
    cudaGetLastError();
    return refuse(fmt::format("GPU {} cannot be opened: {}", ordinal, cudaGetErrorString(error)));
  }
  device_ = device_of(ordinal, properties);
  clock_hz_ = highest_clock_hz(ordinal);
  return facts_of(device_, properties);
}

void* CudaBackend::allocate(std::int64_t bytes) {
  void* data = nullptr;
  const auto whole = static_cast<std::size_t>(std::max(bytes, alignment));
  check(cudaMalloc(&data, whole), "allocating device memory");
  return data;
}

void CudaBackend::release(void* data) {
  cudaFree(data);  // an error of earlier work shows again where it is waited for
}

void CudaBackend::upload(void* device, const void* host, std::int64_t bytes) {
  check(cudaMemcpyAsync(device, host, static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice,
                        stream_),
        "copying to the GPU");
  synchronize();
}

void CudaBackend::download(void* host, const void* device, std::int64_t bytes) {
  check(cudaMemcpyAsync(host, device, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToHost,
                        stream_),
        "copying from the GPU");
  synchronize();
}

void CudaBackend::fill(void* device, std::uint8_t byte, std::int64_t bytes) {
  check(cudaMemsetAsync(device, byte, static_cast<std::size_t>(bytes), stream_),
        "filling device memory");
}

std::uint64_t CudaBackend::hash(const void* device, std::int64_t bytes) {
  unsigned long long sum = 0;
  check(cudaMemsetAsync(sum_, 0, sizeof sum, stream_), "clearing a hash");
  check(enqueue_hash(device, bytes, sum_, device_.multiprocessors, stream_), "hashing");
  download(&sum, sum_, sizeof sum);
  return sum;
}

std::optional<std::int64_t> CudaBackend::free_bytes() {
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "asking for the free memory");
  return static_cast<std::int64_t>(free);
}

std::optional<std::int64_t> CudaBackend::room_bytes() {
  if (!sum_) return std::nullopt;  // the stand-in's memory is nobody's
  return device_.memory_bytes;
}

void CudaBackend::synchronize() {
  check(cudaStreamSynchronize(stream_), "waiting for the GPU");
}

std::int64_t CudaBackend::flush_bytes() const {
  return (2 * device_.l2_bytes + 15) / 16 * 16;
}

void CudaBackend::prepare_flush() {
  if (flush_) return;
  flush_ = allocate(flush_bytes());
  fill(flush_, 0x5a, flush_bytes());
  synchronize();
}

void CudaBackend::flush() {
  check(enqueue_read(flush_, flush_bytes(), reinterpret_cast<unsigned*>(sum_ + 1),
                     device_.multiprocessors, stream_),
        "flushing the cache");
}

CudaBackend::Span& CudaBackend::next_span() {
  if (pending_ == spans_.size()) {
    Span span;
    check(cudaEventCreate(&span.start), "creating an event");
    check(cudaEventCreate(&span.stop), "creating an event");
    spans_.push_back(span);
  }
  return spans_[pending_];
}

void CudaBackend::sample(const std::function<void()>& call, bool cold) {
  using Clock = std::chrono::steady_clock;
  constexpr double least_s = 30e-6, most_s = 2e-3, forgetting = 0.9;
  const Span& span = next_span();
  if (cold) prepare_flush();
  const double delay_s = std::clamp(1.5 * enqueue_s_, least_s, most_s);
  check(enqueue_delay(static_cast<std::int64_t>(delay_s * clock_hz_), stream_), "delaying");
  const auto start = Clock::now();
  if (cold) flush();
  check(cudaEventRecord(span.start, stream_), "recording an event");
  call();
  check(cudaEventRecord(span.stop, stream_), "recording an event");
  enqueue_s_ = std::max(forgetting * enqueue_s_,
                        std::chrono::duration<double>(Clock::now() - start).count());
  ++pending_;
}

void CudaBackend::profile(const std::string& range, const std::function<void()>& call) {
  const ProfiledRange profiled(range);
  call();
  synchronize();
}

std::vector<double> CudaBackend::collect_samples() {
  const std::size_t count = std::exchange(pending_, 0);
  synchronize();
  std::vector<double> samples;
  for (std::size_t i = 0; i < count; ++i) {
    float ms = 0;
    check(cudaEventElapsedTime(&ms, spans_[i].start, spans_[i].stop), "reading an event");
    samples.push_back(ms);
  }
  return samples;
}

}  // namespace flashbench
