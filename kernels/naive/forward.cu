// S = scale Q K^T by cuBLAS; P = softmax(S) in place; O = P V by cuBLAS. S is (B, Hq, Sq, Sk), 16
// bit, its rows padded to 16 bytes. The scale is applied before S is rounded, so that large
// products do not overflow a 16-bit S that could hold their scaled value.
#include <algorithm>
#include <cmath>
#include <memory>

#include "kernels/naive/backward.hpp"
#include "kernels/naive/batches.hpp"
#include "kernels/naive/implementation.hpp"
#include "kernels/naive/softmax.cuh"

namespace flashbench::kernels {
namespace {

std::int64_t scores_bytes(const FlashbenchProblem& p) {
  return ceil_div(rows_of(p) * pitch_of(p) * 2, 256) * 256;
}
template <class Element>
RowLaunch softmax_of(const FlashbenchProblem& p) {
  if (pitch_of(p) <= WarpRow::longest)
    return warp_rows(reinterpret_cast<const void*>(&softmax_in_place<Element, WarpRow>),
                     rows_of(p));
  return block_rows(reinterpret_cast<const void*>(&softmax_in_place<Element, SoftmaxBlock>),
                    rows_of(p), pitch_of(p), held_vectors, SoftmaxBlock::most_threads);
}
RowLaunch softmax_launch(const FlashbenchProblem& p) {
  return p.dtype == FLASHBENCH_FP16 ? softmax_of<__half>(p) : softmax_of<__nv_bfloat16>(p);
}

FlashbenchStatus supports(const FlashbenchProblem* p, const FlashbenchDevice* device,
                          FlashbenchMessage* message) {
  if (auto status = check_problem(*p, *device, FLASHBENCH_FORWARD | FLASHBENCH_BACKWARD, message);
      status != FLASHBENCH_OK)
    return status;
  if (p->head_dim <= 0 || p->head_dim % 8 != 0)
    return unsupported(message, "head_dim must be a multiple of 8");
  return FLASHBENCH_OK;
}

// Visible (query, key) pairs of one head: what the softmax evaluates. Rows below `first` see
// nothing, those from `all` on see every key, and in between each sees one key more than the last.
double visible_pairs(const FlashbenchProblem& p) {
  const std::int64_t first = std::clamp<std::int64_t>(-shift_of(p), 0, p.seq_q);
  const std::int64_t all = std::clamp<std::int64_t>(p.seq_k - shift_of(p), first, p.seq_q);
  const double rising = static_cast<double>(all - first);
  const double fewest = static_cast<double>(first + 1 + shift_of(p));
  return rising * fewest + rising * (rising - 1) / 2 +
         static_cast<double>(p.seq_q - all) * static_cast<double>(p.seq_k);
}

void add_forward_cost(const FlashbenchProblem* p, FlashbenchCost* out) {
  const double rows = static_cast<double>(rows_of(*p)), d = static_cast<double>(p->head_dim);
  const double scores = 2 * rows * static_cast<double>(p->seq_k), q = 2 * rows * d;
  const double kv = 2.0 * static_cast<double>(p->batch * p->kv_heads * p->seq_k) * d;
  const double visible = static_cast<double>(batch_heads_of(*p)) * visible_pairs(*p);
  out->kernel_count = 3;
  FlashbenchKernelCost& qk = out->kernels[0];
  qk = {"cublas_qk", FLASHBENCH_PIPE_GEMM, scores * d, 0, {}};
  qk.traffic.read[FLASHBENCH_Q] = q;
  qk.traffic.read[FLASHBENCH_K] = kv;
  qk.traffic.written[FLASHBENCH_SCORES] = scores;
  FlashbenchKernelCost& softmax = out->kernels[1];
  softmax = {"softmax_in_place", FLASHBENCH_PIPE_NONE, 0, 2 * visible, {}};
  softmax.traffic.read[FLASHBENCH_SCORES] = 2 * visible;
  softmax.traffic.written[FLASHBENCH_SCORES] = scores;
  softmax.traffic.written[FLASHBENCH_STATISTICS] = 4 * rows;
  FlashbenchKernelCost& pv = out->kernels[2];
  pv = {"cublas_pv", FLASHBENCH_PIPE_GEMM, scores * d, 0, {}};
  pv.traffic.read[FLASHBENCH_SCORES] = scores;
  pv.traffic.read[FLASHBENCH_V] = kv;
  pv.traffic.written[FLASHBENCH_O] = q;
  out->workspace_bytes = scores_bytes(*p);
}

FlashbenchStatus cost(const FlashbenchProblem* p, const FlashbenchDevice* device, uint32_t passes,
                      FlashbenchCost* out, FlashbenchMessage* message) {
  if (auto status = supports(p, device, message); status != FLASHBENCH_OK) return status;
  *out = {};
  if (passes & FLASHBENCH_FORWARD) add_forward_cost(p, out);
  if (passes & FLASHBENCH_BACKWARD) add_naive_backward_cost(*p, visible_pairs(*p), out);
  out->workspace_bytes += Cublas::workspace_bytes;
  out->saves = FLASHBENCH_SAVES_LSE;
  return FLASHBENCH_OK;
}

FlashbenchStatus create(const FlashbenchProblem* p, const FlashbenchDevice* device, void* workspace,
                        FlashbenchInstance* out, FlashbenchMessage* message) {
  return guarded(message, [&] {
    *out = {};
    if (auto status = supports(p, device, message); status != FLASHBENCH_OK) return status;
    FLASHBENCH_CUDA(cudaSetDevice(device->ordinal));
    auto* bytes = static_cast<char*>(workspace);
    std::unique_ptr<NaiveInstance> instance(
        new NaiveInstance{*p, Cublas(bytes), bytes + Cublas::workspace_bytes});
    if (p->passes & FLASHBENCH_FORWARD) {
      out->launch_count = 3;
      out->launches[0] = library_launch("cublas_qk");
      const RowLaunch softmax = softmax_launch(*p);
      out->launches[1] = describe_launch("softmax_in_place", softmax.kernel, softmax.threads, 0,
                                         softmax.blocks, *device);
      out->launches[2] = library_launch("cublas_pv");
    }
    if (p->passes & FLASHBENCH_BACKWARD) add_naive_backward_launches(*p, *device, out);
    out->state = instance.release();
    return FLASHBENCH_OK;
  });
}

void products(const NaiveInstance& instance, const FlashbenchForward& f, bool first) {
  const FlashbenchProblem& p = instance.problem;
  const std::int64_t group = p.query_heads / p.kv_heads, pitch = pitch_of(p);
  const FlashbenchTensor scores{instance.scores, p.query_heads * p.seq_q * pitch, pitch,
                                p.seq_q * pitch};
  const Product qk{.m = p.seq_q,
                   .n = p.seq_k,
                   .k = p.head_dim,
                   .transpose_b = true,
                   .alpha = static_cast<float>(p.scale)};
  const Product pv{.m = p.seq_q, .n = p.head_dim, .k = p.seq_k};
  for_batches(p, {f.q, f.o}, {f.k, f.v}, [&](const Batch& batch) {
    const Matrices s = matrices(scores, batch, group, batch.u);
    if (first)
      instance.cublas.multiply(p.dtype, qk, matrices(f.q, batch, group, batch.u),
                               matrices(f.k, batch, 1, 0), s, batch.count);
    else
      instance.cublas.multiply(p.dtype, pv, s, matrices(f.v, batch, 1, 0),
                               matrices(f.o, batch, group, batch.u), batch.count);
  });
}

void launch_softmax(const NaiveInstance& instance, float* lse, cudaStream_t stream) {
  const FlashbenchProblem& p = instance.problem;
  SoftmaxArguments args{instance.scores,
                        lse,
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

void launch_clear(const FlashbenchProblem& p, const FlashbenchForward& f, cudaStream_t stream) {
  ClearArguments args{f.o.data,
                      f.lse,
                      f.o.batch,
                      f.o.seq,
                      f.o.head,
                      rows_of(p),
                      static_cast<int>(p.seq_q),
                      static_cast<int>(p.query_heads),
                      static_cast<int>(p.head_dim)};
  void* parameters[] = {&args};
  const void* kernel = p.dtype == FLASHBENCH_FP16
                           ? reinterpret_cast<const void*>(&clear_rows<__half>)
                           : reinterpret_cast<const void*>(&clear_rows<__nv_bfloat16>);
  const auto blocks = static_cast<unsigned>(std::min(rows_of(p), largest_grid));
  FLASHBENCH_CUDA(cudaLaunchKernel(kernel, dim3(blocks), dim3(64), parameters, 0, stream));
}

FlashbenchStatus forward(void* state, const FlashbenchForward* f, void* stream_pointer,
                         FlashbenchMessage* message) {
  return guarded(message, [&] {
    auto& instance = *static_cast<NaiveInstance*>(state);
    const FlashbenchProblem& p = instance.problem;
    const auto stream = static_cast<cudaStream_t>(stream_pointer);
    if (rows_of(p) == 0) return FLASHBENCH_OK;
    if (auto status = check_tensors(*f, message); status != FLASHBENCH_OK) return status;
    if (p.seq_k == 0) {
      launch_clear(p, *f, stream);
      return FLASHBENCH_OK;
    }
    instance.cublas.set_stream(stream);
    products(instance, *f, true);
    launch_softmax(instance, f->lse, stream);
    products(instance, *f, false);
    return FLASHBENCH_OK;
  });
}

}  // namespace

FlashbenchImplementation Naive::cuda() {
  FlashbenchImplementation row{};
  row.supports = supports;
  row.cost = cost;
  row.create = create;
  row.forward = forward;
  row.backward = naive_backward;
  row.destroy = [](void* state) { delete static_cast<NaiveInstance*>(state); };
  return row;
}

}  // namespace flashbench::kernels
