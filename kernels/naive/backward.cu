// S = scale Q K^T and dP = dO V^T by cuBLAS; P and dS in place; dV = P^T dO, dQ = scale dS K and
// dK = scale dS^T Q by cuBLAS. S is (B, Hq, Sq, Sk) in fp32, since an exponential multiplies what
// is lost in rounding it, dP, P and dS in 16 bits, rows padded to 16 bytes. Where several query
// heads read a KV head, their shares of dK and dV are added up in fp32.
#include "kernels/naive/backward.hpp"

#include <algorithm>

#include "kernels/naive/backward.cuh"
#include "kernels/naive/batches.hpp"

namespace flashbench::kernels {
namespace {

std::int64_t aligned(std::int64_t bytes) {
  return ceil_div(bytes, 256) * 256;
}
std::int64_t kv_rows(const FlashbenchProblem& p) {
  return p.batch * p.kv_heads * p.seq_k;
}

// Where the parts of the workspace begin, after cuBLAS's.
struct Parts {
  std::int64_t d_p, dk, dv, bytes;

  explicit Parts(const FlashbenchProblem& p) {
    const bool grouped = p.query_heads > p.kv_heads;
    const std::int64_t sums = grouped ? aligned(4 * kv_rows(p) * p.head_dim) : 0;
    d_p = aligned(4 * rows_of(p) * pitch_of(p));
    dk = d_p + aligned(2 * rows_of(p) * pitch_of(p));
    dv = dk + sums;
    bytes = dv + sums;
  }
};

// One of the five products, over all heads.
struct Role {
  Product product;
  FlashbenchTensor a, b, c;
  bool b_is_kv, c_is_kv;  // a head a KV head
};

void multiply(const NaiveInstance& instance, const FlashbenchBackward& t, Role role) {
  const FlashbenchProblem& p = instance.problem;
  const std::int64_t group = p.query_heads / p.kv_heads;
  auto of = [&](const FlashbenchTensor& tensor, const Batch& batch, bool is_kv, bool fp32) {
    return matrices(tensor, batch, is_kv ? 1 : group, is_kv ? 0 : batch.u, fp32 ? 4 : 2);
  };
  for_batches(p, {t.q, t.d_o, t.dq}, {t.k, t.v, t.dk, t.dv}, [&](const Batch& batch) {
    role.product.beta = role.c_is_kv && batch.u > 0 ? 1 : 0;
    instance.cublas.multiply(p.dtype, role.product, of(role.a, batch, false, false),
                             of(role.b, batch, role.b_is_kv, false),
                             of(role.c, batch, role.c_is_kv, role.product.fp32_result),
                             batch.count);
  });
}

template <class Element>
RowLaunch softmax_of(const FlashbenchProblem& p) {
  if (pitch_of(p) <= WarpRow::longest)
    return warp_rows(reinterpret_cast<const void*>(&softmax_backward<Element, WarpRow>),
                     rows_of(p));
  return block_rows(reinterpret_cast<const void*>(&softmax_backward<Element, SoftmaxBackwardBlock>),
                    rows_of(p), pitch_of(p), 1, SoftmaxBackwardBlock::most_threads);
}
RowLaunch softmax_launch(const FlashbenchProblem& p) {
  return p.dtype == FLASHBENCH_FP16 ? softmax_of<__half>(p) : softmax_of<__nv_bfloat16>(p);
}

void launch_softmax(const FlashbenchProblem& p, float* scores, void* d_p, cudaStream_t stream) {
  SoftmaxBackwardArguments args{scores,
                                d_p,
                                rows_of(p),
                                pitch_of(p),
                                static_cast<int>(p.seq_q),
                                static_cast<int>(p.seq_k),
                                static_cast<int>(shift_of(p))};
  void* parameters[] = {&args};
  const RowLaunch softmax = softmax_launch(p);
  FLASHBENCH_CUDA(cudaLaunchKernel(softmax.kernel, dim3(softmax.blocks),
                                   dim3(static_cast<unsigned>(softmax.threads)), parameters, 0,
                                   stream));
}

template <class Kernel, class Arguments>
void launch_rows(Kernel fp16, Kernel bf16, FlashbenchDtype dtype, Arguments args,
                 cudaStream_t stream) {
  void* parameters[] = {&args};
  const auto* kernel = reinterpret_cast<const void*>(dtype == FLASHBENCH_FP16 ? fp16 : bf16);
  const auto blocks = static_cast<unsigned>(std::min(args.rows, largest_grid));
  FLASHBENCH_CUDA(cudaLaunchKernel(kernel, dim3(blocks), dim3(64), parameters, 0, stream));
}

// Gradients that no (query, key) pair contributes to.
void clear(const FlashbenchProblem& p, const FlashbenchTensor& t, std::int64_t heads,
           std::int64_t seq, cudaStream_t stream) {
  if (p.batch * heads * seq == 0) return;
  launch_rows(
      &clear_rows<__half>, &clear_rows<__nv_bfloat16>, p.dtype,
      ClearArguments{t.data, nullptr, t.batch, t.seq, t.head, p.batch * heads * seq,
                     static_cast<int>(seq), static_cast<int>(heads), static_cast<int>(p.head_dim)},
      stream);
}

void round(const FlashbenchProblem& p, const FlashbenchTensor& sums, const FlashbenchTensor& t,
           cudaStream_t stream) {
  launch_rows(&round_sums<__half>, &round_sums<__nv_bfloat16>, p.dtype,
              RoundArguments{static_cast<const float*>(sums.data), t.data, t.batch, t.seq, t.head,
                             kv_rows(p), static_cast<int>(p.seq_k), static_cast<int>(p.kv_heads),
                             static_cast<int>(p.head_dim)},
              stream);
}

void run(const NaiveInstance& instance, const FlashbenchBackward& t, cudaStream_t stream) {
  const FlashbenchProblem& p = instance.problem;
  const Parts parts(p);
  const bool grouped = p.query_heads > p.kv_heads;
  const std::int64_t pitch = pitch_of(p), sq = p.seq_q, sk = p.seq_k, d = p.head_dim;
  auto square = [&](std::int64_t at, std::int64_t row) {
    return FlashbenchTensor{instance.scores + at, p.query_heads * sq * row, row, sq * row};
  };
  auto gradient = [&](std::int64_t at, const FlashbenchTensor& tensor) {
    if (!grouped) return tensor;
    return FlashbenchTensor{instance.scores + at, p.kv_heads * sk * d, d, sk * d};
  };
  const FlashbenchTensor s = square(0, pitch), dp = square(parts.d_p, pitch);
  const FlashbenchTensor prob = square(0, 2 * pitch), dk = gradient(parts.dk, t.dk),
                         dv = gradient(parts.dv, t.dv);
  const auto scale = static_cast<float>(p.scale);
  multiply(instance, t, {{sq, sk, d, false, true, scale, 0, true}, t.q, t.k, s, true, false});
  multiply(instance, t, {{sq, sk, d, false, true, 1, 0, false}, t.d_o, t.v, dp, true, false});
  launch_softmax(p, static_cast<float*>(s.data), dp.data, stream);
  multiply(instance, t, {{sk, d, sq, true, false, 1, 0, grouped}, prob, t.d_o, dv, false, true});
  multiply(instance, t, {{sq, d, sk, false, false, scale, 0, false}, dp, t.k, t.dq, true, false});
  multiply(instance, t, {{sk, d, sq, true, false, scale, 0, grouped}, dp, t.q, dk, false, true});
  if (grouped) round(p, dk, t.dk, stream), round(p, dv, t.dv, stream);
}

// kv: bytes of dK or dV.
void add_round_costs(double kv, FlashbenchCost* out) {
  for (const FlashbenchOperand gradient : {FLASHBENCH_DK, FLASHBENCH_DV}) {
    FlashbenchKernelCost& round = out->kernels[out->kernel_count++];
    round = {"round_sums", FLASHBENCH_PIPE_NONE, 0, 0, {}};
    round.traffic.read[gradient] = 2 * kv, round.traffic.written[gradient] = kv;
  }
}

}  // namespace

void add_naive_backward_cost(const FlashbenchProblem& p, double visible_pairs,
                             FlashbenchCost* out) {
  const double rows = static_cast<double>(rows_of(p)), d = static_cast<double>(p.head_dim);
  const double pairs = rows * static_cast<double>(p.seq_k), flops = 2 * pairs * d;
  const double visible = visible_pairs * static_cast<double>(batch_heads_of(p));
  const double q = 2 * rows * d, kv = 2 * static_cast<double>(kv_rows(p)) * d;
  const bool grouped = p.query_heads > p.kv_heads;
  const double group = static_cast<double>(p.query_heads / p.kv_heads);
  auto product = [&](const char* name) -> FlashbenchTraffic& {
    FlashbenchKernelCost& kernel = out->kernels[out->kernel_count++];
    kernel = {name, FLASHBENCH_PIPE_GEMM, flops, 0, {}};
    return kernel.traffic;
  };
  // The heads of a group add to fp32 sums, one after the other.
  auto add_sums = [&](FlashbenchTraffic& traffic, FlashbenchOperand gradient) {
    traffic.written[gradient] = grouped ? group * 2 * kv : kv;
    traffic.read[gradient] = grouped ? (group - 1) * 2 * kv : 0;
  };
  FlashbenchTraffic& qk = product("cublas_qk");
  qk.read[FLASHBENCH_Q] = q, qk.read[FLASHBENCH_K] = kv, qk.written[FLASHBENCH_SCORES] = 4 * pairs;
  FlashbenchTraffic& dp = product("cublas_dp");
  dp.read[FLASHBENCH_DO] = q, dp.read[FLASHBENCH_V] = kv, dp.written[FLASHBENCH_SCORES] = 2 * pairs;
  FlashbenchKernelCost& softmax = out->kernels[out->kernel_count++];
  softmax = {"softmax_backward", FLASHBENCH_PIPE_NONE, 0, 2 * visible, {}};
  softmax.traffic.read[FLASHBENCH_SCORES] = 6 * visible;
  softmax.traffic.written[FLASHBENCH_SCORES] = 4 * pairs;
  FlashbenchTraffic& dv = product("cublas_dv");
  dv.read[FLASHBENCH_SCORES] = 2 * pairs, dv.read[FLASHBENCH_DO] = q;
  add_sums(dv, FLASHBENCH_DV);
  FlashbenchTraffic& dq = product("cublas_dq");
  dq.read[FLASHBENCH_SCORES] = 2 * pairs, dq.read[FLASHBENCH_K] = kv, dq.written[FLASHBENCH_DQ] = q;
  FlashbenchTraffic& dk = product("cublas_dk");
  dk.read[FLASHBENCH_SCORES] = 2 * pairs, dk.read[FLASHBENCH_Q] = q;
  add_sums(dk, FLASHBENCH_DK);
  if (grouped) add_round_costs(kv, out);
  out->workspace_bytes = std::max(out->workspace_bytes, Parts(p).bytes);
}

void add_naive_backward_launches(const FlashbenchProblem& p, const FlashbenchDevice& device,
                                 FlashbenchInstance* out) {
  const RowLaunch softmax = softmax_launch(p);
  auto add = [&](const FlashbenchLaunch& launch) { out->launches[out->launch_count++] = launch; };
  add(library_launch("cublas_qk"));
  add(library_launch("cublas_dp"));
  add(describe_launch("softmax_backward", softmax.kernel, softmax.threads, 0, softmax.blocks,
                      device));
  for (const char* name : {"cublas_dv", "cublas_dq", "cublas_dk"}) add(library_launch(name));
  if (p.query_heads == p.kv_heads) return;
  const auto* round = p.dtype == FLASHBENCH_FP16
                          ? reinterpret_cast<const void*>(&round_sums<__half>)
                          : reinterpret_cast<const void*>(&round_sums<__nv_bfloat16>);
  for (int i = 0; i < 2; ++i)
    add(describe_launch("round_sums", round, 64, 0, std::min(kv_rows(p), largest_grid), device));
}

FlashbenchStatus naive_backward(void* state, const FlashbenchBackward* b, void* stream_pointer,
                                FlashbenchMessage* message) {
  return guarded(message, [&] {
    auto& instance = *static_cast<NaiveInstance*>(state);
    const FlashbenchProblem& p = instance.problem;
    const auto stream = static_cast<cudaStream_t>(stream_pointer);
    if (auto status = check_tensors(*b, message); status != FLASHBENCH_OK) return status;
    if (rows_of(p) == 0 || p.seq_k == 0) {
      clear(p, b->dq, p.query_heads, p.seq_q, stream);
      clear(p, b->dk, p.kv_heads, p.seq_k, stream);
      clear(p, b->dv, p.kv_heads, p.seq_k, stream);
      return FLASHBENCH_OK;
    }
    instance.cublas.set_stream(stream);
    run(instance, *b, stream);
    return FLASHBENCH_OK;
  });
}

}  // namespace flashbench::kernels
