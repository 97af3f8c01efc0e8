#include "kernels/cuda/tiled_backward.hpp"

#include <algorithm>

#include "kernels/cuda/problem.hpp"
#include "kernels/cuda/tiled_forward.hpp"

namespace flashbench::kernels {

FlashbenchStatus supports(const TiledBackward& backward, const FlashbenchProblem& p,
                          const FlashbenchDevice& device, FlashbenchMessage* message) {
  const BackwardPlan plan = backward.plan(p, nullptr);
  if (plan.count == 0)
    return unsupported(
        message, "backward not built for this dtype with head_dim " + std::to_string(p.head_dim));
  if (p.deterministic && !backward.can_repeat)
    return unsupported(message, "adds to dQ atomically, in an order that repeats do not share");
  for (int i = 0; i < plan.count; ++i) {
    if (plan.kernels[i].blocks > largest_grid)
      return unsupported(message, "needs more than 2^31 - 1 blocks");
    if (auto status = check_shared(plan.kernels[i].shared_bytes, device, message);
        status != FLASHBENCH_OK)
      return status;
  }
  return FLASHBENCH_OK;
}

void add_cost(const TiledBackward& backward, const FlashbenchProblem& p, FlashbenchCost* out) {
  const BackwardPlan plan = backward.plan(p, nullptr);
  for (int i = 0; i < plan.count; ++i) out->kernels[out->kernel_count++] = plan.kernels[i].cost;
  out->workspace_bytes = std::max(out->workspace_bytes, plan.workspace_bytes);
}

BackwardPlan create(const TiledBackward& backward, const FlashbenchProblem& p,
                    const FlashbenchDevice& device, void* workspace, FlashbenchInstance* out) {
  const BackwardPlan plan = backward.plan(p, workspace);
  for (int i = 0; i < plan.count; ++i) {
    const PlannedKernel& kernel = plan.kernels[i];
    FLASHBENCH_CUDA(cudaFuncSetAttribute(kernel.function,
                                         cudaFuncAttributeMaxDynamicSharedMemorySize,
                                         static_cast<int>(kernel.shared_bytes)));
    out->launches[out->launch_count++] =
        describe_launch(kernel.cost.kernel, kernel.function, kernel.threads, kernel.shared_bytes,
                        kernel.blocks, device);
  }
  return plan;
}

FlashbenchStatus launch(const BackwardPlan& plan, const FlashbenchBackward& b, void* stream,
                        FlashbenchMessage* message) {
  if (auto status = check_tensors(b, message); status != FLASHBENCH_OK) return status;
  if (plan.arguments.q_tiles > 0)
    if (auto status = check_statistics(b, message); status != FLASHBENCH_OK) return status;
  BackwardArguments a = plan.arguments;
  a.q = b.q.data, a.k = b.k.data, a.v = b.v.data, a.o = b.o.data, a.d_o = b.d_o.data;
  a.dq = b.dq.data, a.dk = b.dk.data, a.dv = b.dv.data;
  a.lse = b.lse, a.m = b.m, a.l = b.l;
  a.q_strides = strides_of(b.q), a.k_strides = strides_of(b.k), a.v_strides = strides_of(b.v);
  a.o_strides = strides_of(b.o), a.d_o_strides = strides_of(b.d_o);
  a.dq_strides = strides_of(b.dq), a.dk_strides = strides_of(b.dk);
  a.dv_strides = strides_of(b.dv);
  void* parameters[] = {&a};
  for (int i = 0; i < plan.count; ++i) {
    const PlannedKernel& kernel = plan.kernels[i];
    if (kernel.blocks == 0) continue;
    FLASHBENCH_CUDA(cudaLaunchKernel(kernel.function, dim3(static_cast<unsigned>(kernel.blocks)),
                                     dim3(static_cast<unsigned>(kernel.threads)), parameters,
                                     static_cast<std::size_t>(kernel.shared_bytes),
                                     static_cast<cudaStream_t>(stream)));
  }
  return FLASHBENCH_OK;
}

BackwardArguments backward_arguments(const FlashbenchProblem& p, const Tile& tile) {
  BackwardArguments a{};
  a.seq_q = static_cast<int>(p.seq_q);
  a.seq_k = static_cast<int>(p.seq_k);
  a.heads = static_cast<int>(p.query_heads);
  a.kv_heads = static_cast<int>(p.kv_heads);
  a.heads_per_kv_head = static_cast<int>(p.query_heads / p.kv_heads);
  a.shift = static_cast<int>(shift_of(p));
  a.q_tiles = static_cast<int>(ceil_div(p.seq_q, tile.br));
  a.kv_tiles = static_cast<int>(ceil_div(p.seq_k, tile.bc));
  a.scale = static_cast<float>(p.scale);
  a.scale_log2 = static_cast<float>(p.scale * 1.4426950408889634);
  return a;
}

QueryVisits query_visits(const FlashbenchProblem& p, const Tile& tile, bool skip) {
  QueryVisits v;
  for (std::int64_t j = 0; j < ceil_div(p.seq_k, tile.bc); ++j) {
    const std::int64_t unseen =
        skip && j > 0 ? std::max<std::int64_t>(0, j * tile.bc - shift_of(p)) / tile.br : 0;
    v.tiles += static_cast<double>(std::max<std::int64_t>(0, ceil_div(p.seq_q, tile.br) - unseen));
    v.rows += static_cast<double>(std::max<std::int64_t>(0, p.seq_q - unseen * tile.br));
  }
  return v;
}

double tensor_bytes(const FlashbenchProblem& p, FlashbenchOperand operand) {
  const bool keys = operand == FLASHBENCH_K || operand == FLASHBENCH_V ||
                    operand == FLASHBENCH_DK || operand == FLASHBENCH_DV;
  const std::int64_t rows =
      keys ? p.batch * p.kv_heads * p.seq_k : p.batch * p.query_heads * p.seq_q;
  return 2.0 * static_cast<double>(rows) * static_cast<double>(p.head_dim);
}

FlashbenchTraffic backward_traffic(const FlashbenchProblem& p, const QueryVisits& visits) {
  const double heads = static_cast<double>(batch_heads_of(p));
  FlashbenchTraffic t{};
  t.read[FLASHBENCH_K] = t.read[FLASHBENCH_V] = tensor_bytes(p, FLASHBENCH_K);
  t.written[FLASHBENCH_DK] = t.written[FLASHBENCH_DV] = tensor_bytes(p, FLASHBENCH_K);
  t.read[FLASHBENCH_Q] = t.read[FLASHBENCH_DO] =
      heads * visits.rows * 2 * static_cast<double>(p.head_dim);
  return t;
}

}  // namespace flashbench::kernels
