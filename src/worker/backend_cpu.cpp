#include "worker/backend_cpu.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

#include "worker/answer.hpp"
#include "worker/hash.hpp"
#include "worker/machine.hpp"
#include "worker/parallel.hpp"

namespace flashbench {

namespace {

constexpr std::int64_t alignment = 256;
constexpr std::int64_t reserve = std::int64_t{256} << 20;  // for this process's own needs

// Reads one byte of each cache line on one CPU, so that it is this CPU's L2 that is flushed.
void read_on(int cpu, const std::byte* data, std::int64_t bytes) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  pthread_setaffinity_np(pthread_self(), sizeof one, &one);
  unsigned sum = 0;
  for (std::int64_t i = 0; i < bytes; i += 64)
    sum += std::to_integer<unsigned>(*static_cast<const volatile std::byte*>(data + i));
  static std::atomic<unsigned> sink;
  sink.fetch_add(sum, std::memory_order_relaxed);
}

}  // namespace

std::optional<DeviceFacts> CpuBackend::open(const std::string& device, std::string* why) {
  if (device != "cpu") {
    if (why) *why = fmt::format("this worker drives the CPU, not device {}", device);
    return std::nullopt;
  }
  if (left_of_address_space() == 0) {
    if (why)
      *why = fmt::format(
          "ulimit -v leaves too little of the address space: OpenBLAS alone takes 128 MiB for "
          "each of {} threads; raise it, or use fewer CPUs (taskset)",
          device_.multiprocessors);
    return std::nullopt;
  }
  DeviceFacts facts;
  facts.backend = Backend::cpu;
  facts.name = cpu_name();
  facts.multiprocessors = device_.multiprocessors;
  facts.memory_bytes = device_.memory_bytes;
  facts.l2_bytes = device_.l2_bytes;
  return facts;
}

CpuBackend::CpuBackend() {
  device_.backend = FLASHBENCH_CPU;
  device_.multiprocessors = usable_threads();
  device_.l2_bytes = l2_bytes();
  device_.memory_bytes = total_memory();
}

void* CpuBackend::allocate(std::int64_t bytes) {
  const std::int64_t whole = std::max(bytes + alignment - 1, alignment) / alignment * alignment;
  const std::optional<std::int64_t> free = free_bytes();
  void* data = free && whole > *free
                   ? nullptr
                   : std::aligned_alloc(alignment, static_cast<std::size_t>(whole));
  if (!data)
    throw DeviceFailure(
        fmt::format("{} bytes of memory could not be had ({} are free)", bytes, free.value_or(0)),
        true);
  return data;
}

void CpuBackend::release(void* data) {
  std::free(data);
}

void CpuBackend::upload(void* device, const void* host, std::int64_t bytes) {
  if (bytes > 0) std::memcpy(device, host, static_cast<std::size_t>(bytes));
}

void CpuBackend::download(void* host, const void* device, std::int64_t bytes) {
  if (bytes > 0) std::memcpy(host, device, static_cast<std::size_t>(bytes));
}

void CpuBackend::fill(void* device, std::uint8_t byte, std::int64_t bytes) {
  constexpr std::int64_t piece = 4 << 20;
  parallel_for((bytes + piece - 1) / piece, [&](std::int64_t i) {
    std::memset(static_cast<std::byte*>(device) + i * piece, byte,
                static_cast<std::size_t>(std::min(piece, bytes - i * piece)));
  });
}

std::uint64_t CpuBackend::hash(const void* device, std::int64_t bytes) {
  return hash_bytes_parallel(device, bytes);
}

std::optional<std::int64_t> CpuBackend::free_bytes() {
  const std::optional<std::int64_t> available = available_memory();
  if (!available) return std::nullopt;
  return std::max<std::int64_t>(*available - reserve, 0);
}

std::int64_t CpuBackend::flush_bytes() const {
  return 2 * l2_bytes();
}

void CpuBackend::flush() {
  const std::vector<int> cpus = usable_cpus();
  std::int64_t bytes = 0;
  for (const int cpu : cpus) bytes = std::max(bytes, 2 * l2_bytes_of(cpu));
  flush_.resize(cpus.size() * static_cast<std::size_t>(bytes));
  std::vector<std::jthread> readers;
  for (std::size_t i = 0; i < cpus.size(); ++i)
    readers.emplace_back(read_on, cpus[i], flush_.data() + static_cast<std::int64_t>(i) * bytes,
                         bytes);
}

void CpuBackend::sample(const std::function<void()>& call, bool cold) {
  using Clock = std::chrono::steady_clock;
  if (cold) flush();
  const auto start = Clock::now();
  call();
  samples_.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
}

CpuBackend::Counted CpuBackend::count(const std::vector<std::string>&, const std::function<void()>&,
                                      bool) {
  throw Refusal(Status::unsupported,
                "not of a CPU: its implementations count for themselves, and no counters of its "
                "hardware are read");
}

std::vector<double> CpuBackend::collect_samples() {
  return std::exchange(samples_, {});
}

}  // namespace flashbench
