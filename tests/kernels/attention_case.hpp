// One attention problem on the CPU: inputs, an implementation's run, and an fp64 reference that
// shares no code with the kernels.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/dtype_bits.hpp"
#include "kernels/index.hpp"

namespace flashbench::test {

struct Shape {
  int64_t batch = 1, query_heads = 1, kv_heads = 1, seq_q = 1, seq_k = 1, head_dim = 64;
  FlashbenchDtype dtype = FLASHBENCH_FP32;
  FlashbenchMask mask = FLASHBENCH_FULL;
  FlashbenchLayout layout = FLASHBENCH_BSHD;
  double scale = 0.125;
};

// A (B, S, H, d) tensor in one of the layouts, its rows `padding` elements further apart than they
// need be.
struct Tensor {
  Tensor(const Shape& shape, int64_t seq_, int64_t heads_, int64_t padding = 0)
      : dtype(shape.dtype), batch(shape.batch), seq(seq_), heads(heads_), dim(shape.head_dim) {
    const int64_t row = dim + padding;
    const bool bshd = shape.layout == FLASHBENCH_BSHD;
    view.batch = seq * heads * row;
    view.seq = bshd ? heads * row : row;
    view.head = bshd ? row : seq * row;
    bytes.assign(static_cast<size_t>(batch * view.batch) * element(), std::byte{0xff});
    view.data = bytes.data();
  }
  size_t element() const { return dtype == FLASHBENCH_FP32 ? 4 : 2; }
  std::byte* at(int64_t b, int64_t s, int64_t h, int64_t x) {
    return bytes.data() +
           static_cast<size_t>(b * view.batch + s * view.seq + h * view.head + x) * element();
  }
  double get(int64_t b, int64_t s, int64_t h, int64_t x) { return decode(at(b, s, h, x), dtype); }
  void set(int64_t b, int64_t s, int64_t h, int64_t x, double value) {
    encode(value, dtype, at(b, s, h, x));
  }
  template <class Value>
  void fill(Value value) {
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t s = 0; s < seq; ++s)
        for (int64_t h = 0; h < heads; ++h)
          for (int64_t x = 0; x < dim; ++x) set(b, s, h, x, value());
  }

  FlashbenchDtype dtype;
  int64_t batch, seq, heads, dim;
  FlashbenchTensor view{};
  std::vector<std::byte> bytes;
};

class Noise {  // roughly normal
 public:
  explicit Noise(uint64_t seed) : state_(seed * 2654435761u + 1) {}
  double operator()() {
    double sum = 0;
    for (int i = 0; i < 6; ++i) {
      state_ = state_ * 6364136223846793005u + 1442695040888963407u;
      sum += static_cast<double>(state_ >> 40) / 16777216.0 - 0.5;
    }
    return sum * 1.4142135623730951;
  }

 private:
  uint64_t state_;
};

struct Case {
  explicit Case(const Shape& shape_, int64_t padding = 0)
      : shape(shape_),
        q(shape, shape.seq_q, shape.query_heads, padding),
        k(shape, shape.seq_k, shape.kv_heads, padding),
        v(shape, shape.seq_k, shape.kv_heads, padding),
        o(shape, shape.seq_q, shape.query_heads, padding) {
    q.fill(Noise(1));
    k.fill(Noise(2));
    v.fill(Noise(3));
  }

  int64_t rows() const { return shape.batch * shape.query_heads * shape.seq_q; }

  // Keys that query i sees.
  int64_t limit(int64_t i) const {
    if (shape.mask == FLASHBENCH_FULL) return shape.seq_k;
    return std::clamp<int64_t>(i + shape.seq_k - shape.seq_q + 1, 0, shape.seq_k);
  }

  Shape shape;
  Tensor q, k, v, o;
  std::vector<float> lse, m, l;
};

inline FlashbenchDevice cpu_device(int threads = 3) {
  FlashbenchDevice device{};
  device.backend = FLASHBENCH_CPU;
  device.multiprocessors = threads;
  return device;
}

inline FlashbenchProblem problem_of(const Shape& shape) {
  FlashbenchProblem problem{};
  problem.batch = shape.batch;
  problem.query_heads = shape.query_heads;
  problem.kv_heads = shape.kv_heads;
  problem.seq_q = shape.seq_q;
  problem.seq_k = shape.seq_k;
  problem.head_dim = shape.head_dim;
  problem.dtype = shape.dtype;
  problem.mask = shape.mask;
  problem.layout = shape.layout;
  problem.passes = FLASHBENCH_FORWARD;
  problem.scale = shape.scale;
  problem.alignment = 2;
  return problem;
}

inline const FlashbenchImplementation& implementation(std::string_view name) {
  const FlashbenchPlugin& plugin = kernels::builtin();
  for (uint32_t i = 0; i < plugin.count; ++i)
    if (plugin.implementations[i].name == name) return plugin.implementations[i];
  std::abort();
}

inline FlashbenchCost cost_of(const std::string& name, const Shape& shape) {
  const FlashbenchProblem problem = problem_of(shape);
  const FlashbenchDevice device = cpu_device();
  FlashbenchCost cost{};
  FlashbenchMessage message{};
  EXPECT_EQ(implementation(name).cost(&problem, &device, FLASHBENCH_FORWARD, &cost, &message),
            FLASHBENCH_OK)
      << message.text;
  return cost;
}

// Runs a forward in a workspace full of NaN; returns what it counted.
inline FlashbenchCounts run(const std::string& name, Case& test, bool statistics = true) {
  const FlashbenchImplementation& impl = implementation(name);
  const FlashbenchProblem problem = problem_of(test.shape);
  const FlashbenchDevice device = cpu_device();
  const auto size = static_cast<size_t>(cost_of(name, test.shape).workspace_bytes);
  const std::unique_ptr<void, void (*)(void*)> workspace(
      size ? std::aligned_alloc(256, (size + 255) / 256 * 256) : nullptr, std::free);
  if (size) std::memset(workspace.get(), 0xff, size);
  const auto nan = std::numeric_limits<float>::quiet_NaN();
  for (auto* row : {&test.lse, &test.m, &test.l})
    row->assign(static_cast<size_t>(test.rows()) + 1, nan);
  FlashbenchForward forward{};
  forward.q = test.q.view;
  forward.k = test.k.view;
  forward.v = test.v.view;
  forward.o = test.o.view;
  if (statistics) {
    forward.lse = test.lse.data();
    forward.m = test.m.data();
    forward.l = test.l.data();
  }
  FlashbenchInstance instance{};
  FlashbenchMessage message{};
  FlashbenchCounts counts{};
  EXPECT_EQ(impl.create(&problem, &device, workspace.get(), &instance, &message), FLASHBENCH_OK)
      << message.text;
  EXPECT_EQ(impl.forward(instance.state, &forward, nullptr, &message), FLASHBENCH_OK)
      << message.text;
  EXPECT_EQ(impl.counts(instance.state, &counts, &message), FLASHBENCH_OK);
  impl.destroy(instance.state);
  return counts;
}

struct ReferenceRow {
  std::vector<double> o, magnitude;  // sum P V, sum P |V|
  double m = -kInfinity, l = 0;
  double lse() const { return l == 0 ? -kInfinity : m + std::log(l); }
};

inline ReferenceRow reference(Case& test, int64_t b, int64_t h, int64_t i) {
  const Shape& shape = test.shape;
  const int64_t kv = h / (shape.query_heads / shape.kv_heads), d = shape.head_dim;
  ReferenceRow row;
  row.o.assign(static_cast<size_t>(d), 0);
  row.magnitude = row.o;
  std::vector<double> s(static_cast<size_t>(test.limit(i)));
  for (size_t j = 0; j < s.size(); ++j) {
    double dot = 0;
    for (int64_t x = 0; x < d; ++x)
      dot += test.q.get(b, i, h, x) * test.k.get(b, static_cast<int64_t>(j), kv, x);
    s[j] = shape.scale * dot;
    row.m = std::max(row.m, s[j]);
  }
  for (const double score : s) row.l += std::exp(score - row.m);
  for (size_t j = 0; j < s.size(); ++j) {
    const double p = std::exp(s[j] - row.m) / row.l;
    for (int64_t x = 0; x < d; ++x) {
      const double value = test.v.get(b, static_cast<int64_t>(j), kv, x);
      row.o[static_cast<size_t>(x)] += p * value;
      row.magnitude[static_cast<size_t>(x)] += p * std::abs(value);
    }
  }
  return row;
}

// Every element of O and of the saved statistics against the reference; stops at the first fault.
inline void expect_right(const std::string& name, Case& test) {
  const Shape& shape = test.shape;
  const bool saves_lse = cost_of(name, shape).saves == FLASHBENCH_SAVES_LSE;
  const double unit = std::ldexp(1.0, -significand_bits(shape.dtype));
  for (int64_t b = 0; b < shape.batch; ++b)
    for (int64_t h = 0; h < shape.query_heads; ++h)
      for (int64_t i = 0; i < shape.seq_q; ++i) {
        const ReferenceRow row = reference(test, b, h, i);
        const auto at = static_cast<size_t>((b * shape.query_heads + h) * shape.seq_q + i);
        const double lse = saves_lse         ? test.lse[at]
                           : test.l[at] == 0 ? test.m[at]
                                             : test.m[at] + std::log(test.l[at]);
        if (row.l == 0) {
          ASSERT_EQ(lse, -kInfinity) << name << " row " << i;
        } else {
          ASSERT_NEAR(lse, row.lse(), 1e-5 * std::max(1.0, std::abs(row.lse())))
              << name << " row " << i;
        }
        for (int64_t x = 0; x < shape.head_dim; ++x) {
          const auto column = static_cast<size_t>(x);
          const double error = std::abs(test.o.get(b, i, h, x) - row.o[column]);
          const double bound = row.l == 0
                                   ? 0
                                   : unit * (row.magnitude[column] + std::abs(row.o[column])) +
                                         1e-5 * std::max(1.0, row.magnitude[column]);
          ASSERT_LE(error, bound) << name << " (" << b << ", " << i << ", " << h << ", " << x
                                  << ") is " << test.o.get(b, i, h, x) << ", not " << row.o[column];
        }
      }
}

}  // namespace flashbench::test
