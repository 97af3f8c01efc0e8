// Every CUDA implementation's backward against the high-precision reference: odd shapes, masks,
// grouped heads, strides, scales, statistics of each other, repeats. Exit 77 without a GPU.
//   backward_check [--small] [--impl NAME] [--d 64|128] [--only SECTION] [--seed N]
//   backward_check --names                             what --impl can name
//   --small: few cases, for compute-sanitizer. Sections: refusals, costs (these two need no GPU),
//   shapes, sizes, scales, single, exchange, repeats, heads
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "kernels/backward_suite.hpp"
#include "kernels/hopper.hpp"

namespace flashbench::tests {
namespace {

// Lengths around every tile's edge, each against itself and three others.
void shapes(Checks& checks) {
  const std::vector<std::int64_t> lengths =
      checks.small() ? std::vector<std::int64_t>{1, 97}
                     : std::vector<std::int64_t>{0, 1, 15, 16, 17, 63, 64, 65, 97, 127, 129, 193};
  int turn = 0;
  for (std::int64_t d : {64, 128})
    for (std::size_t i = 0; i < lengths.size(); ++i)
      for (std::size_t step : {0, 1, 4, 7}) {
        if (checks.small() && step > 1) continue;
        for (bool causal : {false, true}) {
          const std::int64_t sq = lengths[i], sk = lengths[(i + step) % lengths.size()];
          const FlashbenchDtype dtype = turn % 2 ? FLASHBENCH_FP16 : FLASHBENCH_BF16;
          const std::int64_t heads = turn % 5 == 0 ? 6 : 2;
          checks.random(both(problem(dtype, 2, heads, 2, sq, sk, d, causal)),
                        static_cast<Padding>(turn % 3));
          turn += causal ? 2 : 1;  // dtype and mask take no common turns
        }
      }
}

void sizes(Checks& checks) {
  if (checks.small()) return;
  for (FlashbenchDtype dtype : {FLASHBENCH_FP16, FLASHBENCH_BF16})
    for (std::int64_t d : {64, 128})
      for (bool causal : {false, true}) {
        auto of = [&](std::int64_t b, std::int64_t hq, std::int64_t hkv, std::int64_t sq,
                      std::int64_t sk) {
          return both(problem(dtype, b, hq, hkv, sq, sk, d, causal));
        };
        checks.random(of(1, 4, 4, 1024, 1024), Padding::bshd);
        checks.random(of(1, 4, 1, 777, 1300), Padding::gaps);
        checks.random(of(1, 4, 2, 1300, 400), Padding::bhsd);
        checks.random(of(3, 2, 1, 257, 300), Padding::bhsd);
        for (std::int64_t keys : {1017, 1024, 1025, 2100})  // naive: rows of a warp, and of a block
          checks.random(of(1, 3, 3, 41, keys), Padding::bshd);
      }
}

void scales(Checks& checks) {
  for (std::int64_t d : {64, 128})
    for (double scale : {0.0, -0.125, 0.5, -1.0})
      for (FlashbenchDtype dtype : {FLASHBENCH_FP16, FLASHBENCH_BF16}) {
        if (checks.small() && scale != -0.125) continue;  // none takes a way of its own
        FlashbenchProblem p = both(problem(dtype, 1, 2, 1, 100, 116, d, true));
        p.scale = scale;
        checks.random(p, Padding::gaps);
      }
}

// One query, one key, a thousand times: P is 1, so dV is dO to the bit, and dS is nothing.
void single(Checks& checks) {
  if (checks.small()) return;  // shapes have one
  for (FlashbenchDtype dtype : {FLASHBENCH_FP16, FLASHBENCH_BF16})
    for (std::int64_t d : {64, 128})
      for (bool causal : {false, true}) {
        if (!checks.wants(d)) continue;
        GradientCase c(both(problem(dtype, 1000, 1, 1, 1, 1, d, causal)), Padding::bshd);
        c.slack = 1e-3;
        c.inputs(normal(checks.seed, 3), normal(checks.seed + 1, 3), normal(checks.seed + 2, 3),
                 constant(1));
        checks.seed += 3;
        checks.all("one query, one key, " + name_of(c.p), c, [](const GradientCase& x) {
          for (std::int64_t b = 0; b < x.p.batch; ++b)
            for (std::int64_t n = 0; n < x.p.head_dim; ++n) {
              if (x.dv.at(b, 0, 0, n) != 1) return std::string("dV is not dO");
              if (!(std::fabs(x.dq.at(b, 0, 0, n)) <= 1e-3 &&
                    std::fabs(x.dk.at(b, 0, 0, n)) <= 1e-3))
                return std::string("dQ or dK is not 0");
            }
          return std::string();
        });
      }
}

// The statistics and O of each forward into each backward.
void exchange(Checks& checks) {
  for (FlashbenchDtype dtype : {FLASHBENCH_FP16, FLASHBENCH_BF16})
    for (std::int64_t d : {64, 128}) {
      if (!checks.wants(d) || (checks.small() && (dtype == FLASHBENCH_FP16) != (d == 64))) continue;
      GradientCase c(both(problem(dtype, 1, 2, 2, 200, 333, d, true)), Padding::bshd);
      c.inputs(normal(checks.seed), normal(checks.seed + 1), normal(checks.seed + 2),
               normal(checks.seed + 3));
      checks.seed += 4;
      const FlashbenchPlugin& plugin = kernels::builtin();
      for (uint32_t i = 0; i < plugin.count; ++i) {
        const FlashbenchImplementation& forward = plugin.implementations[i];
        if (!(forward.passes & FLASHBENCH_BACKWARD) || is_rung(forward)) continue;
        for (const FlashbenchImplementation* impl : checks.supporting(c.p))
          checks.report(std::string("statistics of ") + forward.name + ", " + name_of(c.p),
                        impl->name, c.run(*impl, checks.device, &forward).trouble);
      }
    }
}

void repeats(Checks& checks) {
  const int times = checks.small() ? 2 : 20;
  for (std::int64_t d : {64, 128})
    for (std::int64_t s : {97, 1024})
      for (bool causal : {false, true})
        for (int deterministic : {0, 1}) {
          if (!checks.wants(d) || (checks.small() && (s > 97 || !deterministic))) continue;
          FlashbenchProblem p = both(problem(FLASHBENCH_BF16, 1, 4, 2, s, s, d, causal));
          p.deterministic = deterministic;
          GradientCase c(p, Padding::gaps);
          c.inputs(normal(checks.seed), normal(checks.seed + 1), normal(checks.seed + 2),
                   normal(checks.seed + 3));
          checks.seed += 4;
          for (const FlashbenchImplementation* impl : checks.supporting(p))
            checks.report((deterministic ? "deterministic " : "repeats ") + name_of(p), impl->name,
                          c.run(*impl, checks.device, nullptr, times).trouble);
        }
}

void heads(Checks& checks) {
  if (checks.small() || !checks.wants(64)) return;
  for (auto [b, h] : {std::pair{65536, 1}, {1, 65537}, {1024, 64}})
    for (const FlashbenchImplementation* impl : checks.implementations())
      if (!is_rung(*impl))
        checks.report("batch " + std::to_string(b) + ", heads " + std::to_string(h), impl->name,
                      many(*impl, checks.device, b, h));
}

void refusals(Checks& checks) {
  for (const FlashbenchImplementation* impl : checks.implementations()) {
    if (is_rung(*impl)) continue;  // built for one architecture: other_gpus_cuda_test
    FlashbenchMessage message{};
    const bool tiled = std::strcmp(impl->name, "naive") != 0;
    auto refuses = [&](const char* what, const FlashbenchProblem& p, std::int64_t shared,
                       const char* says) {
      FlashbenchDevice device = checks.device;
      device.shared_bytes_per_block = shared;
      const bool said = impl->supports(&p, &device, &message) == FLASHBENCH_UNSUPPORTED &&
                        std::strstr(message.text, says);
      checks.report(what, impl->name, said ? "" : "was not refused");
    };
    for (std::int64_t d : {64, 128}) {
      FlashbenchProblem p = problem(FLASHBENCH_BF16, 1, 1, 1, 64, 64, d, false);
      p.passes = FLASHBENCH_BACKWARD;
      if (tiled) refuses("an sm_86's shared memory", p, 101376, "101376");
      FlashbenchDevice a100 = checks.device;
      a100.compute_capability = 80, a100.shared_bytes_per_block = 166912;
      const bool runs = impl->supports(&p, &a100, &message) == FLASHBENCH_OK;
      checks.report("an A100", impl->name, runs ? "" : message.text);
      p.head_dim = 72;
      if (tiled) refuses("head_dim 72", p, 232448, "72");
      p.head_dim = d, p.dtype = FLASHBENCH_FP32;
      refuses("fp32", p, 232448, "dtype");
    }
  }
}

// Five products of 2 d FLOPs a pair; seven where dQ has a pass of its own, which recomputes two.
// Half of the square if causal, tiles on the diagonal whole. Rungs: ladder_backward_cuda_test.
void costs(Checks& checks) {
  for (const FlashbenchImplementation* impl : checks.implementations())
    for (bool causal : {false, true})
      for (int deterministic : {0, 1}) {
        if (is_rung(*impl)) continue;
        FlashbenchProblem p = problem(FLASHBENCH_FP16, 2, 4, 2, 4096, 4096, 128, causal);
        p.passes = FLASHBENCH_BACKWARD, p.deterministic = deterministic;
        FlashbenchMessage message{};
        FlashbenchCost cost{};
        if (impl->cost(&p, &checks.device, p.passes, &cost, &message) != FLASHBENCH_OK)
          return checks.report("cost", impl->name, message.text);
        const bool v2 = std::strcmp(impl->name, "v2") == 0;
        const double square = 2.0 * 4 * 4096 * 4096 * 128 * (v2 && deterministic ? 14 : 10);
        double flops = 0;
        for (uint32_t i = 0; i < cost.kernel_count; ++i) flops += cost.kernels[i].flops;
        const double least = v2 && causal ? square / 2 : square;
        const double most = v2 && causal ? square * 0.53 : square;
        checks.report("FLOPs", impl->name,
                      least <= flops && flops <= most ? "" : std::to_string(flops / square));
        const std::int64_t sums = std::int64_t{4} * 2 * 4 * 4096 * 128;  // of dQ, fp32
        if (v2)
          checks.report("workspace", impl->name,
                        (cost.workspace_bytes >= sums) == !deterministic
                            ? ""
                            : std::to_string(cost.workspace_bytes));
      }
}

// What is asked without a GPU.
int answers(const Options& options) {
  Checks checks(options, hopper());
  checks.section("refusals", refusals);
  checks.section("costs", costs);
  return checks.failures;
}

void print_names() {
  for (const FlashbenchImplementation* impl : Checks(Options{}, hopper()).implementations())
    std::printf("%s\n", impl->name);
}

int main_of(const Options& options) {
  Checks checks(options, this_device());
  checks.section("shapes", shapes);
  checks.section("sizes", sizes);
  checks.section("scales", scales);
  checks.section("single", single);
  checks.section("exchange", exchange);
  checks.section("repeats", repeats);
  checks.section("heads", heads);
  std::printf("%s\n", checks.failures ? "FAILED" : "passed");
  return checks.failures ? 1 : 0;
}

}  // namespace
}  // namespace flashbench::tests

int main(int argc, char** argv) {
  flashbench::tests::Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--small")
      options.small = true;
    else if (word == "--names")
      return flashbench::tests::print_names(), 0;
    else if (i + 1 == argc)
      return std::printf("%s: unknown, or without its value\n", argv[i]), 2;
    else if (word == "--impl")
      options.impl = argv[++i];
    else if (word == "--d")
      options.d = std::atoll(argv[++i]);
    else if (word == "--only")
      options.only = argv[++i];
    else if (word == "--seed")
      options.seed = static_cast<std::uint32_t>(std::atoi(argv[++i]));
    else
      return std::printf("%s: unknown\n", argv[i]), 2;
  }
  if (flashbench::tests::answers(options) > 0) return 1;
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("skipped: no GPU\n");
    return 77;
  }
  try {
    return flashbench::tests::main_of(options);
  } catch (const std::exception& error) {
    std::printf("FAIL %s\n", error.what());
    return 1;
  }
}
