// Times every CUDA implementation's backward pass with events at 16384 tokens a batch and hidden
// size 2048: TFLOPS (10 B H S^2 d, half of it if causal), everything a pass launches included. For
// kernel work only: no check, no flush, no statistics beyond the median.
//   backward_bench [--impl NAME] [--d 64|128] [--mask full|causal] [--seq N] [--deterministic]
#include <cstdio>
#include <cstdlib>
#include <string>

#include "kernels/bench_case.hpp"

namespace flashbench::tests {
namespace {

struct Options {
  std::string impl, mask;
  std::int64_t d = 0, seq = 0;
  int deterministic = 0;
};

struct Gradients : Inputs {
  DeviceMemory d_o{elements * 2}, dq{elements * 2}, dk{elements * 2}, dv{elements * 2};
  Gradients() { draw({&d_o}, 9); }
};

// What a problem's instance reports, and how fast it is.
struct Result {
  double tflops = 0;
  FlashbenchInstance instance{};
};

Result measure(const FlashbenchImplementation& impl, const FlashbenchDevice& device, Gradients& in,
               const FlashbenchProblem& p) {
  Result result;
  FlashbenchMessage message{};
  auto check = [&](FlashbenchStatus status) {
    if (status != FLASHBENCH_OK) throw std::runtime_error(message.text);
  };
  FlashbenchCost cost{};
  if (impl.cost(&p, &device, p.passes, &cost, &message) != FLASHBENCH_OK) return result;
  DeviceMemory workspace(static_cast<std::size_t>(cost.workspace_bytes));
  check(impl.create(&p, &device, workspace.as<void>(), &result.instance, &message));
  auto view = [&](const DeviceMemory& memory) { return bench_view(memory, p.head_dim, p.seq_q); };
  const bool lse = cost.saves & FLASHBENCH_SAVES_LSE;
  const FlashbenchForward f{view(in.q),
                            view(in.k),
                            view(in.v),
                            view(in.o),
                            lse ? in.lse.as<float>() : nullptr,
                            lse ? nullptr : in.m.as<float>(),
                            lse ? nullptr : in.l.as<float>()};
  const FlashbenchBackward b{f.q,         f.k,         f.v,   f.o, view(in.d_o), view(in.dq),
                             view(in.dk), view(in.dv), f.lse, f.m, f.l};
  check(impl.forward(result.instance.state, &f, nullptr, &message));
  const double ms =
      median_ms([&] { check(impl.backward(result.instance.state, &b, nullptr, &message)); }, 60);
  impl.destroy(result.instance.state);
  const double pairs = static_cast<double>(p.seq_q) * static_cast<double>(p.seq_k) *
                       (p.mask == FLASHBENCH_CAUSAL ? 0.5 : 1);
  result.tflops =
      10.0 * static_cast<double>(p.batch * p.query_heads * p.head_dim) * pairs / ms / 1e9;
  return result;
}

void table(const FlashbenchImplementation& impl, const FlashbenchDevice& device, Gradients& in,
           const Options& options) {
  for (std::int64_t d : {128, 64}) {
    FlashbenchInstance last{};
    for (bool causal : {false, true}) {
      const char* mask = causal ? "causal" : "full";
      if ((options.d && options.d != d) || (!options.mask.empty() && options.mask != mask))
        continue;
      std::printf("%-6s d%-3d %-6s", impl.name, static_cast<int>(d), mask);
      for (std::int64_t s : {512, 1024, 2048, 4096, 8192, 16384}) {
        if (options.seq && options.seq != s) continue;
        FlashbenchProblem p = bench_problem(d, s, causal, FLASHBENCH_FORWARD | FLASHBENCH_BACKWARD);
        p.deterministic = options.deterministic;
        const Result result = measure(impl, device, in, p);
        last = result.instance;
        std::printf(" %6.1f", result.tflops);
        std::fflush(stdout);
      }
      std::printf("\n");
    }
    for (uint32_t i = 0; i < last.launch_count; ++i)
      if (const FlashbenchLaunch& l = last.launches[i]; l.registers > 0)
        std::printf(
            "         %-20s registers %d, spilled %d, threads %d, shared %d, blocks an SM %d\n",
            l.kernel, l.registers, l.spilled_bytes, l.threads, static_cast<int>(l.shared_bytes),
            l.blocks_per_multiprocessor);
  }
}

int main_of(const Options& options) {
  const FlashbenchDevice device = this_device();
  Gradients gradients;
  std::printf("TFLOPS, bf16; seq 512 1k 2k 4k 8k 16k\n");
  const FlashbenchPlugin& plugin = kernels::builtin();
  for (uint32_t i = 0; i < plugin.count; ++i) {
    const FlashbenchImplementation& impl = plugin.implementations[i];
    if ((impl.passes & FLASHBENCH_BACKWARD) && (options.impl.empty() || options.impl == impl.name))
      table(impl, device, gradients, options);
  }
  return 0;
}

}  // namespace
}  // namespace flashbench::tests

int main(int argc, char** argv) {
  flashbench::tests::Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--deterministic")
      options.deterministic = 1;
    else if (i + 1 == argc)
      return std::printf("%s: unknown, or without its value\n", argv[i]), 2;
    else if (word == "--impl")
      options.impl = argv[++i];
    else if (word == "--mask")
      options.mask = argv[++i];
    else if (word == "--d")
      options.d = std::atoll(argv[++i]);
    else if (word == "--seq")
      options.seq = std::atoll(argv[++i]);
    else
      return std::printf("%s: unknown\n", argv[i]), 2;
  }
  try {
    return flashbench::tests::main_of(options);
  } catch (const std::exception& error) {
    std::printf("FAIL %s\n", error.what());
    return 1;
  }
}
