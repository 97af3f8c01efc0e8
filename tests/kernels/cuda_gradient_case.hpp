// One backward problem on the GPU: a forward's case with dO, its gradients with guards around every
// row, and the comparison of an implementation's gradients with the reference's.
#pragma once

#include "judge/gradient_lane.hpp"
#include "kernels/cuda_case.hpp"

namespace flashbench::tests {

// Device memory with a poisoned end that nothing may write to.
class Guarded {
 public:
  explicit Guarded(std::int64_t bytes) : bytes_(static_cast<std::size_t>(bytes)) {
    memory_ = DeviceMemory(bytes_ + guard);
    poison();
  }
  void poison() { FLASHBENCH_CUDA(cudaMemset(memory_.as<void>(), 0xff, memory_.bytes())); }
  void* data() const { return memory_.as<void>(); }
  bool holds() const {
    std::vector<unsigned char> end(guard);
    FLASHBENCH_CUDA(cudaMemcpy(end.data(), memory_.as<unsigned char>() + bytes_, guard,
                               cudaMemcpyDeviceToHost));
    return std::all_of(end.begin(), end.end(), [](unsigned char x) { return x == 0xff; });
  }

 private:
  static constexpr std::size_t guard = 4096;
  std::size_t bytes_;
  DeviceMemory memory_;
};

// An implementation made ready for a problem, forward and backward.
class Ready {
 public:
  Ready(const FlashbenchImplementation& impl, const FlashbenchProblem& p,
        const FlashbenchDevice& device)
      : impl_(impl) {
    FlashbenchMessage message{};
    if (impl.cost(&p, &device, p.passes, &cost, &message) != FLASHBENCH_OK)
      throw std::runtime_error(std::string("cost: ") + message.text);
    workspace = std::make_unique<Guarded>(cost.workspace_bytes);
    if (impl.create(&p, &device, workspace->data(), &instance, &message) != FLASHBENCH_OK)
      throw std::runtime_error(std::string("create: ") + message.text);
    FLASHBENCH_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  }
  ~Ready() {
    cudaStreamDestroy(stream_);
    impl_.destroy(instance.state);
  }
  Ready(const Ready&) = delete;
  Ready& operator=(const Ready&) = delete;

  void forward(const FlashbenchForward& f) {
    settle("before the forward");
    FlashbenchMessage message{};
    if (impl_.forward(instance.state, &f, stream_, &message) != FLASHBENCH_OK)
      throw std::runtime_error(std::string("forward: ") + message.text);
    settle("forward");
  }
  void backward(const FlashbenchBackward& b) {
    settle("before the backward");
    FlashbenchMessage message{};
    if (impl_.backward(instance.state, &b, stream_, &message) != FLASHBENCH_OK)
      throw std::runtime_error(std::string("backward: ") + message.text);
    settle("backward");
  }

  FlashbenchCost cost{};
  FlashbenchInstance instance{};
  std::unique_ptr<Guarded> workspace;

 private:
  static void settle(const char* what) {
    if (const cudaError_t error = cudaDeviceSynchronize(); error != cudaSuccess)
      throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
  }
  const FlashbenchImplementation& impl_;
  cudaStream_t stream_{};
};

struct GradientVerdict {
  std::string trouble;  // empty: right
  double ratio = 0;     // worst block's error over what the rule allows
};

// dQ, where repeats need not be equal to the bit.
inline bool adds_atomically(const std::string& impl) {
  const bool is_rung = impl.find('/') != std::string::npos;
  return impl == "v2" || (is_rung && impl != "ladder/v1" && impl != "ladder/d-once");
}

class GradientCase : public Case {
 public:
  Tensor d_o, dq, dk, dv;

  GradientCase(FlashbenchProblem problem, Padding padding)
      : Case(problem, padding),
        d_o(p.dtype, p.batch, p.seq_q, p.query_heads, p.head_dim, padding),
        dq(p.dtype, p.batch, p.seq_q, p.query_heads, p.head_dim, padding),
        dk(p.dtype, p.batch, p.seq_k, p.kv_heads, p.head_dim, padding),
        dv(p.dtype, p.batch, p.seq_k, p.kv_heads, p.head_dim, padding) {}

  void inputs(const Value& q_, const Value& k_, const Value& v_, const Value& d_o_) {
    Case::inputs(q_, k_, v_);
    d_o.fill(d_o_);
    want_q_ = want_k_ = want_v_ = {};
    FlashbenchProblem group = p;
    group.batch = group.kv_heads = 1;
    group.query_heads = p.query_heads / p.kv_heads;
    const Dtype dtype = p.dtype == FLASHBENCH_FP16 ? Dtype::fp16 : Dtype::bf16;
    judge::GradientLane lane(judge::GradientLane::bytes_for(group));
    FLASHBENCH_CUDA(cudaDeviceSynchronize());  // its stream does not wait for copies
    for (std::int64_t b = 0; b < p.batch; ++b)
      for (std::int64_t kv = 0; kv < p.kv_heads; ++kv) {
        judge::GroupSums sums = lane.run(group, arguments_of(b, kv), false, [] {});
        want_q_.add(judge::finished_gradient(dtype, p.scale, std::move(sums.dq)));
        want_k_.add(judge::finished_gradient(dtype, p.scale, std::move(sums.dk)));
        want_v_.add(judge::finished_gradient(dtype, 1, std::move(sums.dv)));
      }
  }

  // Runs a forward, which gives O and the statistics, and `repeats` backwards, outputs and
  // workspace poisoned before each; judges the last and compares all of them to the bit.
  GradientVerdict run(const FlashbenchImplementation& impl, const FlashbenchDevice& device,
                      const FlashbenchImplementation* forward_of = nullptr, int repeats = 2) {
    GradientVerdict verdict;
    const FlashbenchImplementation& source = forward_of ? *forward_of : impl;
    const auto rows = p.batch * p.query_heads * p.seq_q;
    Guarded statistics(3 * rows * 4);
    uint32_t saves = 0;
    {
      Ready ready(source, p, device);
      saves = ready.cost.saves;
      ready.forward(forward_arguments(static_cast<float*>(statistics.data()), saves));
    }
    Ready ready(impl, p, device);
    std::vector<std::vector<std::uint16_t>> first;
    bool repeat = true;
    for (int n = 0; n < repeats; ++n) {
      for (Tensor* t : {&dq, &dk, &dv}) t->poison();
      ready.workspace->poison();
      ready.backward(arguments(static_cast<float*>(statistics.data()), saves));
      for (Tensor* t : {&dq, &dk, &dv}) t->download();
      if (n == 0) first = {dq.bits(), dk.bits(), dv.bits()};
      const bool sums_vary = adds_atomically(impl.name) && !p.deterministic;
      repeat &=
          (sums_vary || dq.bits() == first[0]) && dk.bits() == first[1] && dv.bits() == first[2];
    }
    if (!repeat) verdict.trouble = "not repeatable to the bit";
    if (!ready.workspace->holds()) verdict.trouble = "wrote past its workspace";
    if (!statistics.holds()) verdict.trouble = "wrote past the statistics";
    const bool coarse = std::strcmp(source.name, "naive") == 0 && &source != &impl;
    judge(verdict, "dQ", dq, want_q_, p.seq_q, p.query_heads, coarse);
    judge(verdict, "dK", dk, want_k_, p.seq_k, p.kv_heads, coarse);
    judge(verdict, "dV", dv, want_v_, p.seq_k, p.kv_heads, coarse);
    return verdict;
  }

  double slack = 0;  // allowed beside the rule

 private:
  struct Wanted {
    std::vector<double> exact;
    std::vector<float> comparator;
    std::vector<double> least_error;  // one a row
    void add(const judge::Gradient& part) {
      exact.insert(exact.end(), part.exact.begin(), part.exact.end());
      comparator.insert(comparator.end(), part.comparator.begin(), part.comparator.end());
      least_error.insert(least_error.end(), part.least_error.begin(), part.least_error.end());
    }
  };
  std::size_t rows() const { return static_cast<std::size_t>(p.batch * p.query_heads * p.seq_q); }
  FlashbenchForward forward_arguments(float* statistics, uint32_t saves) const {
    FlashbenchForward f{q.view(), k.view(), v.view(), o.view(), nullptr, nullptr, nullptr};
    if (saves & FLASHBENCH_SAVES_LSE) f.lse = statistics;
    if (saves & FLASHBENCH_SAVES_M_AND_L) f.m = statistics + rows(), f.l = statistics + 2 * rows();
    return f;
  }
  FlashbenchBackward arguments(float* statistics, uint32_t saves) const {
    const FlashbenchForward f = forward_arguments(statistics, saves);
    return {f.q, f.k, f.v, f.o, d_o.view(), dq.view(), dk.view(), dv.view(), f.lse, f.m, f.l};
  }

  // The inputs of one KV head and the query heads that read it.
  FlashbenchBackward arguments_of(std::int64_t b, std::int64_t kv) const {
    FlashbenchBackward inputs{};
    const auto from = [&](const Tensor& tensor, std::int64_t head) {
      FlashbenchTensor view = tensor.view();
      view.data = static_cast<std::uint16_t*>(view.data) + b * view.batch + head * view.head;
      return view;
    };
    const std::int64_t head = kv * (p.query_heads / p.kv_heads);
    inputs.q = from(q, head), inputs.d_o = from(d_o, head);
    inputs.k = from(k, kv), inputs.v = from(v, kv);
    return inputs;
  }

  // A 64-row block passes within three times the comparator's own error, or what its roundings must
  // cost. Statistics of naive are those of scores rounded to 16 bits.
  void judge(GradientVerdict& verdict, const char* name, const Tensor& got, const Wanted& want,
             std::int64_t seq, std::int64_t heads, bool coarse) const {
    if (!got.guards_hold()) verdict.trouble = std::string("wrote outside ") + name;
    for (std::int64_t b = 0; b < p.batch; ++b)
      for (std::int64_t h = 0; h < heads; ++h)
        for (std::int64_t first = 0; first < seq; first += 64) {
          const std::int64_t end = std::min(first + 64, seq);
          double error = 0, allowed = 0;
          for (std::int64_t s = first; s < end; ++s) {
            const auto row = static_cast<std::size_t>((b * heads + h) * seq + s);
            allowed = std::max(allowed, want.least_error[row]);
            for (std::int64_t x = 0; x < p.head_dim; ++x) {
              const std::size_t at =
                  row * static_cast<std::size_t>(p.head_dim) + static_cast<std::size_t>(x);
              const double e = std::fabs(got.at(b, s, h, x) - want.exact[at]);
              error = e <= error ? error : e;  // NaN stays
              allowed = std::max(allowed, std::fabs(want.comparator[at] - want.exact[at]));
            }
          }
          const double bound = (coarse ? 32 : 3) * allowed + 1e-5 + slack;
          verdict.ratio = error / bound <= verdict.ratio ? verdict.ratio : error / bound;
          if (!(error <= bound) && verdict.trouble.empty())
            verdict.trouble = std::string(name) + " of (" + std::to_string(b) + ", " +
                              std::to_string(h) + ") rows " + std::to_string(first) +
                              "...: error " + std::to_string(error) + ", allowed " +
                              std::to_string(bound);
        }
  }

  Wanted want_q_, want_k_, want_v_;
};

}  // namespace flashbench::tests
