// A plain attention in fp32 or 16 bits and its faulty relatives, as a plugin would bring them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

#include "flashbench/attention.h"
#include "worker/dtype.hpp"

namespace flashbench::testing {

enum class Fault {
  none,
  m_and_l,
  nothing,
  beyond_o,
  input,
  wavering,
  skips,
  slips,
  fails,
  throws,
  huge,
  refuses,
  negative,      // says that its workspace has negative bytes
  not_a_number,  // says that it does NaN FLOPs
  many_kernels
};

struct Fake {
  FlashbenchProblem problem{};
  int runs = 0;
};

inline int fakes_alive = 0;

inline Dtype dtype_of(const FlashbenchProblem& problem) {
  return static_cast<Dtype>(problem.dtype);
}

inline float load(Dtype dtype, const FlashbenchTensor& t, std::int64_t at) {
  float value = 0;
  widen(dtype, static_cast<const std::byte*>(t.data) + at * bytes_of(dtype), &value, 1);
  return value;
}

inline void store(Dtype dtype, const FlashbenchTensor& t, std::int64_t at, float value) {
  narrow(dtype, &value, static_cast<std::byte*>(t.data) + at * bytes_of(dtype), 1);
}

inline void attend_row(const FlashbenchProblem& p, const FlashbenchForward& args, std::int64_t b,
                       std::int64_t h, std::int64_t i) {
  const Dtype dtype = dtype_of(p);
  const std::int64_t kv = h * p.kv_heads / p.query_heads, d = p.head_dim;
  const std::int64_t keys = p.mask == FLASHBENCH_FULL
                                ? p.seq_k
                                : std::clamp<std::int64_t>(i + 1 + p.seq_k - p.seq_q, 0, p.seq_k);
  const auto at = [&](const FlashbenchTensor& t, std::int64_t s, std::int64_t head) {
    return b * t.batch + s * t.seq + head * t.head;
  };
  std::vector<float> s(static_cast<std::size_t>(keys)), o(static_cast<std::size_t>(d));
  float m = -std::numeric_limits<float>::infinity(), l = 0;
  for (std::int64_t j = 0; j < keys; ++j) {
    float dot = 0;
    for (std::int64_t x = 0; x < d; ++x)
      dot += load(dtype, args.q, at(args.q, i, h) + x) * load(dtype, args.k, at(args.k, j, kv) + x);
    s[static_cast<std::size_t>(j)] = dot * static_cast<float>(p.scale);
    m = std::max(m, s[static_cast<std::size_t>(j)]);
  }
  for (std::int64_t j = 0; j < keys; ++j) {
    const float weight = std::exp(s[static_cast<std::size_t>(j)] - m);
    l += weight;
    for (std::int64_t x = 0; x < d; ++x)
      o[static_cast<std::size_t>(x)] += weight * load(dtype, args.v, at(args.v, j, kv) + x);
  }
  for (std::int64_t x = 0; x < d; ++x)
    store(dtype, args.o, at(args.o, i, h) + x, keys == 0 ? 0 : o[static_cast<std::size_t>(x)] / l);
  const std::int64_t row = (b * p.query_heads + h) * p.seq_q + i;
  if (args.lse) args.lse[row] = m + std::log(l);
  if (args.m) args.m[row] = m;
  if (args.l) args.l[row] = l;
}

inline void attend(const FlashbenchProblem& p, const FlashbenchForward& args) {
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t h = 0; h < p.query_heads; ++h)
      for (std::int64_t i = 0; i < p.seq_q; ++i) attend_row(p, args, b, h, i);
}

inline FlashbenchStatus say(FlashbenchMessage* message, const char* text, FlashbenchStatus status) {
  std::snprintf(message->text, sizeof message->text, "%s", text);
  return status;
}

template <Fault fault>
FlashbenchStatus fake_forward(void* state, const FlashbenchForward* args, void*,
                              FlashbenchMessage* message) {
  auto& fake = *static_cast<Fake*>(state);
  ++fake.runs;
  std::printf("a kernel that prints\n");
  if (fault == Fault::fails) return say(message, "the launch failed", FLASHBENCH_FAILED);
  if (fault == Fault::throws) throw std::runtime_error("thrown by an implementation");
  if (fault == Fault::nothing) return FLASHBENCH_OK;
  // Of the first six runs, in which it is judged, all compute; later one in seven.
  if (fault == Fault::skips && fake.runs > 6 && fake.runs % 7 > 0) return FLASHBENCH_OK;
  attend(fake.problem, *args);
  const FlashbenchProblem& p = fake.problem;
  if (fault == Fault::beyond_o)
    store(dtype_of(p), args->o, p.batch * p.seq_q * p.query_heads * p.head_dim + 3, 1);
  if (fault == Fault::input) store(dtype_of(p), args->k, 0, 5);
  // For longer than any batch of samples, but not in the end.
  if (fault == Fault::slips && fake.runs > 20 && fake.runs <= 60) store(dtype_of(p), args->o, 0, 7);
  if (fault == Fault::wavering) store(dtype_of(p), args->o, 0, static_cast<float>(fake.runs));
  return FLASHBENCH_OK;
}

template <Fault fault>
FlashbenchStatus fake_cost(const FlashbenchProblem* p, const FlashbenchDevice*, uint32_t,
                           FlashbenchCost* cost, FlashbenchMessage*) {
  cost->kernel_count = 1;
  cost->kernels[0].kernel = "fake";
  cost->kernels[0].pipe = FLASHBENCH_PIPE_SGEMM;
  cost->kernels[0].flops = 4.0 * static_cast<double>(p->seq_q * p->seq_k * p->head_dim);
  cost->workspace_bytes = fault == Fault::huge ? std::int64_t{1} << 43 : 100;
  if (fault == Fault::negative) cost->workspace_bytes = -100;
  if (fault == Fault::not_a_number) cost->kernels[0].flops = std::nan("");
  if (fault == Fault::many_kernels) cost->kernel_count = 1000;
  cost->saves = fault == Fault::m_and_l ? FLASHBENCH_SAVES_M_AND_L : FLASHBENCH_SAVES_LSE;
  return FLASHBENCH_OK;
}

template <Fault fault>
FlashbenchStatus fake_supports(const FlashbenchProblem*, const FlashbenchDevice*,
                               FlashbenchMessage* message) {
  if (fault == Fault::refuses) return say(message, "needs a head_dim of 3", FLASHBENCH_UNSUPPORTED);
  return FLASHBENCH_OK;
}

inline FlashbenchStatus fake_create(const FlashbenchProblem* p, const FlashbenchDevice*,
                                    void* workspace, FlashbenchInstance* instance,
                                    FlashbenchMessage* message) {
  if (reinterpret_cast<std::uintptr_t>(workspace) % 256 != 0)
    return say(message, "the workspace is not aligned", FLASHBENCH_FAILED);
  ++fakes_alive;
  instance->state = new Fake{*p, 0};
  instance->launch_count = 1;
  instance->launches[0] = {"fake", -1, -1, 1, -1, 7, -1, -1.0};
  return FLASHBENCH_OK;
}

inline FlashbenchStatus fake_counts(void*, FlashbenchCounts* counts, FlashbenchMessage*) {
  counts->exponentials = 42;
  return FLASHBENCH_OK;
}

inline void fake_destroy(void* state) {
  --fakes_alive;
  delete static_cast<Fake*>(state);
}

template <Fault fault>
FlashbenchImplementation fake(const char* name) {
  return {name,
          "a fake",
          "",
          FLASHBENCH_FORWARD,
          fake_supports<fault>,
          fake_cost<fault>,
          fake_create,
          fake_forward<fault>,
          nullptr,
          nullptr,
          fake_counts,
          fake_destroy};
}

inline const FlashbenchPlugin& fake_plugin() {
  static const std::vector<FlashbenchImplementation> all{fake<Fault::none>("good"),
                                                         fake<Fault::m_and_l>("m-and-l"),
                                                         fake<Fault::nothing>("nothing"),
                                                         fake<Fault::beyond_o>("beyond-o"),
                                                         fake<Fault::input>("input"),
                                                         fake<Fault::wavering>("wavering"),
                                                         fake<Fault::fails>("fails"),
                                                         fake<Fault::throws>("throws"),
                                                         fake<Fault::huge>("huge"),
                                                         fake<Fault::refuses>("refuses"),
                                                         fake<Fault::negative>("negative"),
                                                         fake<Fault::not_a_number>("not-a-number"),
                                                         fake<Fault::many_kernels>("many-kernels"),
                                                         fake<Fault::skips>("skips"),
                                                         fake<Fault::slips>("slips")};
  static const FlashbenchPlugin plugin{FLASHBENCH_ABI, FLASHBENCH_CPU,
                                       static_cast<uint32_t>(all.size()), all.data()};
  return plugin;
}

}  // namespace flashbench::testing
