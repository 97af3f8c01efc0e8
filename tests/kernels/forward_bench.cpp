// Times every CUDA implementation's forward pass with events at 16384 tokens a batch and hidden
// size 2048, and the ceilings. For kernel work only: no check, no flush, no statistics beyond the
// median.
//   forward_bench [implementation ...]
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

#include "kernels/ceilings/ceilings.hpp"
#include "kernels/cuda_case.hpp"

namespace flashbench::tests {
namespace {

template <class Run>
double median_ms(Run run) {
  std::vector<cudaEvent_t> events(2);
  for (auto& e : events) FLASHBENCH_CUDA(cudaEventCreate(&e));
  std::vector<float> times;
  float spent = 0;
  for (int i = 0; i < 2; ++i) run();
  for (int i = 0; i < 25 && (i < 3 || spent < 150); ++i) {
    FLASHBENCH_CUDA(cudaEventRecord(events[0]));
    run();
    FLASHBENCH_CUDA(cudaEventRecord(events[1]));
    FLASHBENCH_CUDA(cudaEventSynchronize(events[1]));
    float ms = 0;
    FLASHBENCH_CUDA(cudaEventElapsedTime(&ms, events[0], events[1]));
    times.push_back(ms);
    spent += ms;
  }
  for (auto& e : events) cudaEventDestroy(e);
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

struct Inputs {
  static constexpr std::int64_t elements = 16384 * 2048;
  DeviceMemory q{elements * 2}, k{elements * 2}, v{elements * 2}, o{elements * 2},
      lse{16384 * 32 * 4}, m{16384 * 32 * 4}, l{16384 * 32 * 4};

  Inputs() {
    std::uint32_t seed = 1;
    for (DeviceMemory* memory : {&q, &k, &v}) {
      std::vector<std::uint16_t> some(1000003);
      auto draw = normal(seed++);
      for (auto& bits : some) bits = to_bits(FLASHBENCH_BF16, draw(0, 0, 0, 0));
      for (std::size_t at = 0; at < elements; at += some.size())
        FLASHBENCH_CUDA(cudaMemcpy(memory->as<std::uint16_t>() + at, some.data(),
                                   std::min(some.size(), elements - at) * 2,
                                   cudaMemcpyHostToDevice));
    }
  }
};

double tflops(const FlashbenchImplementation& impl, const FlashbenchDevice& device, Inputs& in,
              std::int64_t d, std::int64_t s, bool causal, FlashbenchLaunch* launch) {
  FlashbenchProblem p{};
  p.batch = 16384 / s, p.query_heads = p.kv_heads = 2048 / d, p.seq_q = p.seq_k = s, p.head_dim = d;
  p.dtype = FLASHBENCH_BF16;
  p.mask = causal ? FLASHBENCH_CAUSAL : FLASHBENCH_FULL;
  p.passes = FLASHBENCH_FORWARD;
  p.scale = 1 / std::sqrt(static_cast<double>(d));
  p.alignment = 256;
  FlashbenchMessage message{};
  FlashbenchCost cost{};
  if (impl.cost(&p, &device, FLASHBENCH_FORWARD, &cost, &message) != FLASHBENCH_OK) return 0;
  DeviceMemory workspace(static_cast<std::size_t>(cost.workspace_bytes));
  FlashbenchInstance instance{};
  if (impl.create(&p, &device, workspace.as<void>(), &instance, &message) != FLASHBENCH_OK)
    throw std::runtime_error(message.text);
  auto view = [&](const DeviceMemory& memory) {
    return FlashbenchTensor{memory.as<void>(), s * 2048, 2048, d};
  };
  const FlashbenchForward f{view(in.q),         view(in.k),       view(in.v),      view(in.o),
                            in.lse.as<float>(), in.m.as<float>(), in.l.as<float>()};
  const double ms = median_ms([&] {
    if (impl.forward(instance.state, &f, nullptr, &message) != FLASHBENCH_OK)
      throw std::runtime_error(message.text);
  });
  *launch = instance.launches[instance.launch_count / 2];
  impl.destroy(instance.state);
  const double pairs = static_cast<double>(s) * static_cast<double>(s) * (causal ? 0.5 : 1);
  return 4.0 * static_cast<double>(p.batch * p.query_heads * d) * pairs / ms / 1e9;
}

void table(const FlashbenchImplementation& impl, const FlashbenchDevice& device, Inputs& in) {
  for (std::int64_t d : {128, 64})
    for (bool causal : {false, true}) {
      std::printf("%-22s d%-3d %-6s", impl.name, static_cast<int>(d), causal ? "causal" : "full");
      FlashbenchLaunch launch{};
      for (std::int64_t s : {512, 1024, 2048, 4096, 8192, 16384})
        std::printf(" %6.1f", tflops(impl, device, in, d, s, causal, &launch));
      std::printf("  regs %d spill %d smem %d x%d\n", launch.registers, launch.spilled_bytes,
                  static_cast<int>(launch.shared_bytes), launch.blocks_per_multiprocessor);
    }
}

void ceilings(const FlashbenchDevice& device) {
  for (const kernels::Ceiling& ceiling : kernels::ceilings()) {
    FlashbenchMessage message{};
    void* state = nullptr;
    double work = 0;
    if (ceiling.create(&device, &state, &work, &message) != FLASHBENCH_OK)
      throw std::runtime_error(message.text);
    const double ms = median_ms([&] { ceiling.run(state, nullptr, &message); });
    std::printf("%-8s %.4g /s\n", ceiling.name, work / ms * 1e3);
    ceiling.destroy(state);
  }
}

}  // namespace
}  // namespace flashbench::tests

int main(int argc, char** argv) {
  using namespace flashbench;
  try {
    const FlashbenchDevice device = tests::this_device();
    tests::Inputs inputs;
    const FlashbenchPlugin& plugin = kernels::builtin();
    for (uint32_t i = 0; i < plugin.count; ++i) {
      bool wanted = argc < 2;
      for (int a = 1; a < argc; ++a)
        wanted |= !std::strcmp(argv[a], plugin.implementations[i].name);
      if (wanted) tests::table(plugin.implementations[i], device, inputs);
    }
    if (argc < 2) tests::ceilings(device);
    return 0;
  } catch (const std::exception& error) {
    std::printf("FAIL %s\n", error.what());
    return 1;
  }
}
