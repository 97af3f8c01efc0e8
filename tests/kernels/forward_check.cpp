// Every CUDA implementation against the high-precision reference: odd shapes, masks, grouped heads,
// strides, and inputs that have broken attention kernels before. Exit 77 without a GPU.
//   forward_check [--small] [--impl NAME] [--seed N]     --small: few cases, for compute-sanitizer
//   forward_check --names                                what --impl can name
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/cuda_suite.hpp"

namespace flashbench::tests {
namespace {

std::uint32_t seed = 1;

void random_case(Suite& suite, const FlashbenchProblem& p, Padding padding, float deviation = 1) {
  Case c(p, padding);
  c.inputs(normal(seed, deviation), normal(seed + 1, deviation), normal(seed + 2, deviation));
  seed += 3;
  suite.all(name_of(p), c);
}

void shapes(Suite& suite, bool small) {
  const std::vector<std::int64_t> lengths =
      small ? std::vector<std::int64_t>{1, 63, 65, 97, 129, 193}
            : std::vector<std::int64_t>{0, 1, 17, 63, 65, 97, 129, 193, 257, 600};
  int turn = 0;
  for (std::int64_t d : {64, 128})
    for (std::size_t i = 0; i < lengths.size(); ++i)
      for (std::size_t j = 0; j < lengths.size(); ++j)
        for (bool causal : {false, true}) {
          const std::int64_t sq = lengths[i], sk = lengths[j];
          const auto padding = static_cast<Padding>(turn % 3);
          const bool bf16 = (i + j + causal + (d == 128)) % 2 == 0;  // each dtype with each mask
          const FlashbenchDtype dtype = bf16 ? FLASHBENCH_BF16 : FLASHBENCH_FP16;
          const bool grouped = turn % 5 == 0;
          ++turn;
          if (small && j != i && j != (i + 1) % lengths.size()) continue;
          random_case(suite, problem(dtype, small ? 1 : 2, grouped ? 6 : 2, 2, sq, sk, d, causal),
                      padding);
        }
  if (small) return;
  for (FlashbenchDtype dtype : {FLASHBENCH_FP16, FLASHBENCH_BF16})
    for (std::int64_t d : {64, 128})
      for (bool causal : {false, true}) {
        random_case(suite, problem(dtype, 1, 4, 4, 1024, 1024, d, causal), Padding::bshd);
        random_case(suite, problem(dtype, 1, 4, 1, 777, 1300, d, causal), Padding::gaps);
        random_case(suite, problem(dtype, 1, 2, 2, 300, 300, d, causal), Padding::bshd, 2);
        random_case(suite, problem(dtype, 3, 2, 1, 257, 300, d, causal), Padding::bhsd);
        for (std::int64_t keys : {1017, 1024, 1025, 2100})  // naive: rows of a warp, and of a block
          random_case(suite, problem(dtype, 1, 3, 3, 41, keys, d, causal), Padding::bshd);
      }
}

void rows_without_keys(Suite& suite, FlashbenchDtype dtype) {
  Case c(problem(dtype, 1, 1, 1, 5, 2, 64, true), Padding::bshd);
  c.inputs(constant(0), normal(1), [](auto, auto s, auto, auto) { return 1.0f + 2.0f * s; });
  suite.all("more queries than keys", c, [](const Case& x, bool) {
    const double o[] = {0, 0, 0, 1, 2}, lse[] = {-INFINITY, -INFINITY, -INFINITY, 0, 0.693147};
    for (int r = 0; r < 5; ++r) {
      const auto at = static_cast<std::size_t>(r);
      if (auto e = near("O", x.o.at(0, r, 0, 0), o[r], 1e-3); !e.empty()) return e;
      if (auto e = near("LSE", x.last_lse[at], lse[r], 1e-5); !e.empty()) return e;
    }
    return std::string();
  });
}

void huge_scores(Suite& suite) {
  Case low(problem(FLASHBENCH_BF16, 1, 1, 1, 96, 96, 128, false), Padding::bshd);
  low.inputs(constant(45), constant(-45), constant(1));
  suite.all("all scores far below zero", low, [](const Case& x, bool naive) {
    auto e = near("O", x.o.at(0, 95, 0, 127), 1, 0);
    return e.empty() ? near("LSE", x.last_lse[0], -22905.695, naive ? 128 : 0.03) : e;
  });
  Case single(problem(FLASHBENCH_BF16, 1, 1, 1, 1, 1, 64, false), Padding::bshd);
  single.inputs(constant(133120), constant(133120), constant(133120));
  suite.all("one huge key", single, [](const Case& x, bool naive) {
    auto e = near("O", x.o.at(0, 0, 0, 0), 133120, 0);
    return e.empty() ? near("LSE", x.last_lse[0], 1.4176748e11, naive ? 1e9 : 1.5e5) : e;
  });
  Case large(problem(FLASHBENCH_FP16, 1, 1, 1, 128, 128, 64, false), Padding::bshd);
  large.inputs(constant(40), constant(40), [](auto, auto s, auto, auto) { return float(s % 2); });
  suite.all("products past the range of fp16", large, [](const Case& x, bool naive) {
    auto e = near("O", x.o.at(0, 77, 0, 3), 0.5, 0);
    return e.empty() ? near("LSE", x.last_lse[5], 12804.85, naive ? 8 : 0.01) : e;
  });
  for (float size : {30.0f, 3000.0f, 1e6f}) {  // fp32 sums blur the largest
    Case wide(problem(FLASHBENCH_BF16, 1, 2, 2, 200, 333, 128, true), Padding::gaps);
    wide.inputs(normal(5, size), normal(6, size), normal(7));
    wide.slack = size < 100 ? 0 : 0.01;
    suite.each([&](const FlashbenchImplementation& impl, uint32_t i) {
      if (i > 0)  // naive rounds such scores to 16 bits
        suite.report("normal inputs of size 30 to 1e6", impl.name,
                     wide.run(impl, suite.device).trouble);
    });
  }
}

void scales(Suite& suite, FlashbenchDtype dtype) {
  for (double scale : {0.0, -0.125, 3.0, -40.0}) {
    FlashbenchProblem p = problem(dtype, 1, 2, 1, 100, 116, 64, true);
    p.scale = scale;
    Case c(p, Padding::gaps);
    c.inputs(normal(11), normal(12), normal(13));
    suite.each([&](const FlashbenchImplementation& impl, uint32_t i) {
      if (i > 0 || std::fabs(scale) <= 1)
        suite.report(("scale " + std::to_string(scale)).c_str(), impl.name,
                     c.run(impl, suite.device).trouble);
    });
  }
  FlashbenchProblem p = problem(dtype, 1, 1, 1, 16, 16, 64, true);
  p.scale = 0;
  Case c(p, Padding::bshd);
  c.inputs(normal(1), normal(2), [](auto, auto s, auto, auto) { return float(s); });
  suite.all("scale 0", c, [](const Case& x, bool) {
    auto e = near("O", x.o.at(0, 15, 0, 1), 7.5, 0.01);
    return e.empty() ? near("LSE", x.last_lse[15], std::log(16.0), 1e-5) : e;
  });
}

// More than 65535 heads, and more than 2^31 scores.
void many_heads(Suite& suite) {
  for (auto [b, h, s] :
       {std::tuple{65536, 1, 16}, {1024, 65, 16}, {1, 65537, 16}, {20, 32, 2000}}) {
    Case c(problem(FLASHBENCH_FP16, b, h, h, s, s, 64, false), Padding::bshd);
    c.inputs(constant(0.5f), constant(0), [n = h](auto i, auto, auto j, auto) {
      return static_cast<float>((i * n + j) % 7 + 1);
    });
    suite.all("many heads " + name_of(c.p), c);
  }
}

void long_keys(Suite& suite) {
  for (std::int64_t s : {65535, 65537})
    for (bool causal : {false, true}) {
      FlashbenchProblem p = problem(FLASHBENCH_FP16, 1, 1, 1, causal ? s : 3, s, 64, causal);
      Case c(p, Padding::bshd);
      c.inputs(constant(0), constant(0),
               [s](auto, auto j, auto, auto) { return j == s - 1 ? 1024.0f : 0.0f; });
      suite.all("long " + name_of(p), c, [s](const Case& x, bool) {
        return near("O", x.o.at(0, x.p.seq_q - 1, 0, 0), 1024.0 / static_cast<double>(s), 1e-4);
      });
    }
}

void grouped_heads(Suite& suite) {
  Case c(problem(FLASHBENCH_BF16, 1, 8, 2, 64, 64, 64, false), Padding::bshd);
  c.inputs(constant(0), normal(3), [](auto, auto, auto h, auto) { return float(h + 1); });
  suite.all("grouped heads", c, [](const Case& x, bool) {
    for (int h = 0; h < 8; ++h)
      if (auto e = near("O", x.o.at(0, 63, h, 5), h < 4 ? 1 : 2, 0); !e.empty()) return e;
    return near("LSE", x.last_lse[0], std::log(64.0), 1e-5);
  });
}

// The reference itself, against a plain loop on the host.
void reference_holds(Suite& suite) {
  Case c(problem(FLASHBENCH_BF16, 2, 2, 1, 37, 41, 64, true), Padding::gaps);
  c.inputs(normal(21), normal(22), normal(23));
  double worst = 0;
  for (int b = 0; b < 2; ++b)
    for (int h = 0; h < 2; ++h)
      for (int i = 0; i < 37; ++i) {
        std::vector<double> o(64);
        double l = 0;
        for (int j = 0; j < std::min(41, i + 5); ++j) {
          double s = 0;
          for (int x = 0; x < 64; ++x) s += double(c.q.at(b, i, h, x)) * c.k.at(b, j, 0, x);
          const double e = std::exp(s * c.p.scale);
          l += e;
          for (std::size_t x = 0; x < 64; ++x) o[x] += e * c.v.at(b, j, 0, int(x));
        }
        const auto row = static_cast<std::size_t>((b * 2 + h) * 37 + i);
        worst = std::max(worst, std::fabs(std::log(l) - c.reference_lse[row]));
        for (std::size_t x = 0; x < 64; ++x)
          worst = std::max(worst, std::fabs(o[x] / l - c.reference_o[row * 64 + x]));
      }
  suite.report("the reference", "", worst < 1e-12 ? "" : "differs by " + std::to_string(worst));
}

void refusals(Suite& suite) {
  suite.each([&](const FlashbenchImplementation& impl, uint32_t i) {
    FlashbenchMessage message{};
    auto refuses = [&](const char* what, FlashbenchProblem p, FlashbenchDevice device) {
      const bool said =
          impl.supports(&p, &device, &message) == FLASHBENCH_UNSUPPORTED && message.text[0];
      suite.report(what, impl.name, said ? "" : "was not refused");
    };
    FlashbenchProblem p = problem(FLASHBENCH_BF16, 1, 1, 1, 64, 64, 64, false);
    FlashbenchDevice old = suite.device;
    old.compute_capability = 75;
    refuses("sm_75", p, old);
    p.dtype = FLASHBENCH_FP32;
    refuses("fp32", p, suite.device);
    p.dtype = FLASHBENCH_BF16, p.head_dim = 72;
    if (i > 0) refuses("head_dim 72", p, suite.device);
    p.head_dim = 128, p.passes = FLASHBENCH_BACKWARD;
    if (!(impl.passes & FLASHBENCH_BACKWARD)) refuses("backward", p, suite.device);
    p.passes = FLASHBENCH_FORWARD;
    FlashbenchDevice tight = suite.device;
    tight.shared_bytes_per_block = 65536;
    if (i > 0) refuses("65536 bytes of shared memory", p, tight);
    tight.shared_bytes_per_block = 166912;
    if (i > 0 && impl.supports(&p, &tight, &message) != FLASHBENCH_OK)
      suite.report("an A100's shared memory", impl.name, message.text);
  });
}

void print_names() {
  Suite{.only = "", .device = {}}.each(
      [](const auto& impl, auto) { std::printf("%s\n", impl.name); });
}

int main_of(bool small, const std::string& only) {
  Suite suite{.only = only, .device = this_device()};
  reference_holds(suite);
  refusals(suite);
  shapes(suite, small);
  for (FlashbenchDtype dtype : {FLASHBENCH_FP16, FLASHBENCH_BF16}) {
    rows_without_keys(suite, dtype);
    scales(suite, dtype);
  }
  grouped_heads(suite);
  if (!small) {
    huge_scores(suite);
    many_heads(suite);
    long_keys(suite);
  }
  suite.each([&](const FlashbenchImplementation& impl, uint32_t i) {
    std::printf("%-24s worst error / comparator's %.2f, worst LSE %.1e\n", impl.name,
                suite.worst_ratio[i], suite.worst_lse[i]);
  });
  std::printf("%d checks, %d failed, %d not built\n", suite.checks, suite.failures, suite.skipped);
  return suite.failures ? 1 : 0;
}

}  // namespace
}  // namespace flashbench::tests

int main(int argc, char** argv) {
  bool small = false;
  std::string only;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--small") {
      small = true;
    } else if (word == "--names") {
      return flashbench::tests::print_names(), 0;
    } else if (i + 1 < argc && word == "--impl") {
      only = argv[++i];
    } else if (i + 1 < argc && word == "--seed") {
      flashbench::tests::seed += 100003u * static_cast<unsigned>(std::atoi(argv[++i]));
    } else {
      return std::printf("%s: unknown, or without its value\n", argv[i]), 2;
    }
  }
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("skipped: no GPU\n");
    return 77;
  }
  try {
    return flashbench::tests::main_of(small, only);
  } catch (const std::exception& error) {
    std::printf("FAIL %s\n", error.what());
    return 1;
  }
}
