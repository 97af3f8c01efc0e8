// The backward of an attention problem on the CPU: an implementation's run on the statistics of any
// forward, and an fp64 reference that shares no code with the kernels.
#pragma once

#include "kernels/attention_case.hpp"

namespace flashbench::test {

struct GradientCase : Case {
  explicit GradientCase(const Shape& shape_, int64_t padding = 0)
      : Case(shape_, padding),
        d_o(shape, shape.seq_q, shape.query_heads, padding),
        dq(shape, shape.seq_q, shape.query_heads, padding),
        dk(shape, shape.seq_k, shape.kv_heads, padding),
        dv(shape, shape.seq_k, shape.kv_heads, padding) {
    d_o.fill(Noise(4));
  }
  std::vector<std::byte> gradients() const {
    std::vector<std::byte> all = dq.bytes;
    for (const Tensor* tensor : {&dk, &dv})
      all.insert(all.end(), tensor->bytes.begin(), tensor->bytes.end());
    return all;
  }

  Tensor d_o, dq, dk, dv;
};

enum class Statistics { own, lse, m_and_l };  // what the backward is given

inline FlashbenchBackward backward_of(GradientCase& test, Statistics given, uint32_t saves) {
  FlashbenchBackward backward{};
  backward.q = test.q.view;
  backward.k = test.k.view;
  backward.v = test.v.view;
  backward.o = test.o.view;
  backward.d_o = test.d_o.view;
  backward.dq = test.dq.view;
  backward.dk = test.dk.view;
  backward.dv = test.dv.view;
  const bool lse =
      given == Statistics::own ? saves & FLASHBENCH_SAVES_LSE : given == Statistics::lse;
  if (lse) {
    backward.lse = test.lse.data();
  } else {
    backward.m = test.m.data();
    backward.l = test.l.data();
  }
  return backward;
}

inline FlashbenchCost backward_cost_of(const std::string& name, const Shape& shape,
                                       uint32_t passes = FLASHBENCH_BACKWARD) {
  FlashbenchProblem problem = problem_of(shape);
  problem.passes = passes;
  const FlashbenchDevice device = cpu_device();
  FlashbenchCost cost{};
  FlashbenchMessage message{};
  EXPECT_EQ(implementation(name).cost(&problem, &device, passes, &cost, &message), FLASHBENCH_OK)
      << message.text;
  return cost;
}

// Runs a backward `repeats` times in a workspace that begins full of NaN and is never cleared;
// returns what the last one counted. O and the statistics are those already in `test`.
inline FlashbenchCounts run_backward(const std::string& name, GradientCase& test,
                                     Statistics given = Statistics::own, int repeats = 1,
                                     int threads = 3) {
  const FlashbenchImplementation& impl = implementation(name);
  FlashbenchProblem problem = problem_of(test.shape);
  problem.passes = FLASHBENCH_BACKWARD;
  problem.deterministic = 1;
  const FlashbenchDevice device = cpu_device(threads);
  FlashbenchCost cost{};
  FlashbenchMessage message{};
  EXPECT_EQ(impl.cost(&problem, &device, problem.passes, &cost, &message), FLASHBENCH_OK);
  const auto size = static_cast<size_t>(cost.workspace_bytes);
  const std::unique_ptr<void, void (*)(void*)> workspace(
      size ? std::aligned_alloc(256, (size + 255) / 256 * 256) : nullptr, std::free);
  if (size) std::memset(workspace.get(), 0xff, size);
  const FlashbenchBackward backward = backward_of(test, given, cost.saves);
  FlashbenchInstance instance{};
  FlashbenchCounts counts{};
  EXPECT_EQ(impl.create(&problem, &device, workspace.get(), &instance, &message), FLASHBENCH_OK)
      << message.text;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    for (Tensor* tensor : {&test.dq, &test.dk, &test.dv})
      std::fill(tensor->bytes.begin(), tensor->bytes.end(), std::byte{0xff});
    EXPECT_EQ(impl.backward(instance.state, &backward, nullptr, &message), FLASHBENCH_OK)
        << message.text;
  }
  EXPECT_EQ(impl.counts(instance.state, &counts, &message), FLASHBENCH_OK);
  impl.destroy(instance.state);
  return counts;
}

// A gradient in fp64 and, beside each element, the sum of the absolute values that make it.
struct ReferenceGradient {
  std::vector<double> value, magnitude;
  void resize(int64_t size) {
    value.assign(static_cast<size_t>(size), 0);
    magnitude = value;
  }
  void add(int64_t at, double term, double size) {
    value[static_cast<size_t>(at)] += term;
    magnitude[static_cast<size_t>(at)] += size;
  }
};

struct ReferenceGradients {
  ReferenceGradient dq, dk, dv;       // of one batch and KV head: (group, Sq, d), (Sk, d), (Sk, d)
  double largest_identity_error = 0;  // of rowsum(dP * P) = rowsum(dO * O), over the rows
};

inline void differentiate_row(GradientCase& test, int64_t b, int64_t h, int64_t i,
                              ReferenceGradients& to) {
  const Shape& shape = test.shape;
  const int64_t group = shape.query_heads / shape.kv_heads, kv = h / group, d = shape.head_dim;
  const int64_t seen = test.limit(i), row = ((h % group) * shape.seq_q + i) * d;
  const ReferenceRow forward = reference(test, b, h, i);
  double dots = 0, dot_sizes = 0, left_side = 0;  // of 7.3
  for (int64_t x = 0; x < d; ++x) {
    dots += test.d_o.get(b, i, h, x) * forward.o[static_cast<size_t>(x)];
    dot_sizes += std::abs(test.d_o.get(b, i, h, x)) * forward.magnitude[static_cast<size_t>(x)];
  }
  for (int64_t j = 0; j < seen; ++j) {
    double s = 0, dp = 0, size = dot_sizes;
    for (int64_t x = 0; x < d; ++x) {
      s += test.q.get(b, i, h, x) * test.k.get(b, j, kv, x);
      const double product = test.d_o.get(b, i, h, x) * test.v.get(b, j, kv, x);
      dp += product;
      size += std::abs(product);
    }
    const double p = std::exp(shape.scale * s - forward.m) / forward.l;
    left_side += p * dp;
    const double ds = shape.scale * p * (dp - dots), ds_size = std::abs(shape.scale) * p * size;
    for (int64_t x = 0; x < d; ++x) {
      const double key = test.k.get(b, j, kv, x), query = test.q.get(b, i, h, x);
      const double d_output = test.d_o.get(b, i, h, x);
      to.dq.add(row + x, ds * key, ds_size * std::abs(key));
      to.dk.add(j * d + x, ds * query, ds_size * std::abs(query));
      to.dv.add(j * d + x, p * d_output, p * std::abs(d_output));
    }
  }
  to.largest_identity_error = std::max(to.largest_identity_error, std::abs(left_side - dots));
}

inline ReferenceGradients reference_gradients(GradientCase& test, int64_t b, int64_t kv) {
  const Shape& shape = test.shape;
  const int64_t group = shape.query_heads / shape.kv_heads, d = shape.head_dim;
  ReferenceGradients to;
  to.dq.resize(group * shape.seq_q * d);
  to.dk.resize(shape.seq_k * d);
  to.dv.resize(shape.seq_k * d);
  for (int64_t h = kv * group; h < (kv + 1) * group; ++h)
    for (int64_t i = 0; i < shape.seq_q; ++i) differentiate_row(test, b, h, i, to);
  return to;
}

// Every element of one head of a gradient; stops at the first fault.
inline void expect_gradient(const std::string& what, Tensor& got, int64_t b, int64_t head,
                            const ReferenceGradient& right, int64_t first) {
  const double unit = std::ldexp(1.0, -significand_bits(got.dtype));
  for (int64_t s = 0; s < got.seq; ++s)
    for (int64_t x = 0; x < got.dim; ++x) {
      const auto at = static_cast<size_t>(first + s * got.dim + x);
      const double size = right.magnitude[at];
      const double bound = size == 0 ? 0 : 2 * unit * size + 1e-5 * std::max(0.1, size);
      ASSERT_LE(std::abs(got.get(b, s, head, x) - right.value[at]), bound)
          << what << " (" << b << ", " << s << ", " << head << ", " << x << ") is "
          << got.get(b, s, head, x) << ", not " << right.value[at];
    }
}

inline void expect_right_gradients(const std::string& name, GradientCase& test) {
  const Shape& shape = test.shape;
  const int64_t group = shape.query_heads / shape.kv_heads;
  for (int64_t b = 0; b < shape.batch; ++b)
    for (int64_t kv = 0; kv < shape.kv_heads; ++kv) {
      const ReferenceGradients right = reference_gradients(test, b, kv);
      for (int64_t h = 0; h < group; ++h)
        expect_gradient(name + " dq", test.dq, b, kv * group + h, right.dq,
                        h * shape.seq_q * shape.head_dim);
      expect_gradient(name + " dk", test.dk, b, kv, right.dk, 0);
      expect_gradient(name + " dv", test.dv, b, kv, right.dv, 0);
    }
}

}  // namespace flashbench::test
