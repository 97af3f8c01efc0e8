// Times every CUDA implementation's forward pass with events at 16384 tokens a batch and hidden
// size 2048, and the ceilings. For kernel work only: no check, no flush, no statistics beyond the
// median.
//   forward_bench [implementation ...]
#include <cstdio>
#include <cstring>

#include "kernels/bench_case.hpp"
#include "kernels/ceilings/ceilings.hpp"

namespace flashbench::tests {
namespace {

double tflops(const FlashbenchImplementation& impl, const FlashbenchDevice& device, Inputs& in,
              std::int64_t d, std::int64_t s, bool causal, FlashbenchLaunch* launch) {
  const FlashbenchProblem p = bench_problem(d, s, causal, FLASHBENCH_FORWARD);
  FlashbenchMessage message{};
  FlashbenchCost cost{};
  if (impl.cost(&p, &device, FLASHBENCH_FORWARD, &cost, &message) != FLASHBENCH_OK) return 0;
  DeviceMemory workspace(static_cast<std::size_t>(cost.workspace_bytes));
  FlashbenchInstance instance{};
  if (impl.create(&p, &device, workspace.as<void>(), &instance, &message) != FLASHBENCH_OK)
    throw std::runtime_error(message.text);
  auto view = [&](const DeviceMemory& memory) { return bench_view(memory, d, s); };
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
