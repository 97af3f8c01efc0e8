#include "kernels/cuda/tiled_forward.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/cuda/problem.hpp"

namespace flashbench::kernels {
namespace {

// What blocks can be given: a head, or a Q tile.
std::int64_t shares_of(const TiledForward& forward, const Tile& tile, const FlashbenchProblem& p) {
  if (p.seq_q == 0) return 0;
  const std::int64_t tiles = forward.rung.grid == Grid::heads ? 1 : ceil_div(p.seq_q, tile.br);
  return batch_heads_of(p) * tiles;
}

// As blocks/visible.cuh has it, on the host.
std::int64_t kv_end(const Rung& rung, const Tile& tile, const FlashbenchProblem& p,
                    std::int64_t i) {
  std::int64_t keys = p.seq_k;
  if (rung.causal == Causal::skip)
    keys = std::clamp<std::int64_t>((i + 1) * tile.br + shift_of(p), 0, p.seq_k);
  return std::max<std::int64_t>(1, ceil_div(keys, tile.bc));
}

struct Visits {
  double tiles = 0;    // (Q tile, K/V tile) pairs a head
  double q_rows = 0;   // rows of Q in those pairs
  double keys = 0;     // rows of K in those pairs
  double kv_rows = 0;  // rows of K that any Q tile visits
};

Visits visits_of(const Rung& rung, const Tile& tile, const FlashbenchProblem& p) {
  Visits v;
  for (std::int64_t i = 0; i < ceil_div(p.seq_q, tile.br); ++i) {
    const std::int64_t end = kv_end(rung, tile, p, i);
    const std::int64_t keys = std::min(end * tile.bc, p.seq_k);
    v.tiles += static_cast<double>(end);
    v.q_rows += static_cast<double>(end * std::min<std::int64_t>(tile.br, p.seq_q - i * tile.br));
    v.keys += static_cast<double>(keys);
    v.kv_rows = std::max(v.kv_rows, static_cast<double>(keys));
  }
  return v;
}

FlashbenchTraffic traffic_of(const Rung& rung, const Tile& tile, const FlashbenchProblem& p) {
  const Visits v = visits_of(rung, tile, p);
  const double heads = static_cast<double>(batch_heads_of(p)), row = 2.0 * tile.d;
  const double rows = static_cast<double>(p.seq_q);
  const double saved = rung.saved == Saved::m_and_l ? 8 : 4;
  FlashbenchTraffic t{};
  t.written[FLASHBENCH_O] = heads * rows * row;
  t.written[FLASHBENCH_STATISTICS] = heads * rows * saved;
  if (rung.loop == Loop::q_outer) {
    t.read[FLASHBENCH_Q] = heads * rows * row;
    t.read[FLASHBENCH_K] = t.read[FLASHBENCH_V] = heads * v.keys * row;
  } else {
    const double kv_rows = rung.grid == Grid::heads ? v.kv_rows : v.keys;  // once a block
    const double again = heads * (v.q_rows - rows);  // every visit but the first reads, all but
    t.read[FLASHBENCH_Q] = heads * v.q_rows * row;   // the last write
    t.read[FLASHBENCH_K] = t.read[FLASHBENCH_V] = heads * kv_rows * row;
    t.read[FLASHBENCH_O] = again * 4 * tile.d;
    t.written[FLASHBENCH_O] += again * 4 * tile.d;
    t.read[FLASHBENCH_STATISTICS] = again * 8;
    t.written[FLASHBENCH_STATISTICS] += again * 8;
  }
  return t;
}

// Heads are dealt with in turns of equal size, few enough at a time to find their K and V in the L2
// cache, but enough to fill the multiprocessors twice: long tiles are then followed by short ones.
Turns turns_of(const Tile& tile, const FlashbenchProblem& p, const FlashbenchDevice& device,
               std::int64_t resident) {
  const std::int64_t heads = std::max<std::int64_t>(batch_heads_of(p), 1);
  const std::int64_t head_bytes = 4 * std::max<std::int64_t>(p.seq_k, 1) * p.head_dim;
  const std::int64_t cached = device.l2_bytes / 3 / head_bytes * (p.query_heads / p.kv_heads);
  const std::int64_t filling = ceil_div(2 * resident * tile.br, std::max<std::int64_t>(p.seq_q, 1));
  const std::int64_t turns =
      std::max<std::int64_t>(1, heads / std::max({cached, filling, std::int64_t{1}}));
  const std::int64_t few = heads / turns, longer = heads % turns * (few + 1);
  const std::int64_t tiles = std::max<std::int64_t>(ceil_div(p.seq_q, tile.br), 1);
  auto number = [](std::int64_t x) { return static_cast<std::uint32_t>(x); };
  auto turn = [&](std::int64_t together) {
    return Turn{Divider(number(together)), Divider(number(together * tiles))};
  };
  return {number(longer), number(longer * tiles), turn(few + 1), turn(few)};
}

ForwardArguments arguments_of(const TiledForward& forward, const Tile& tile,
                              const FlashbenchProblem& p, const FlashbenchDevice& device,
                              std::int64_t resident, void* workspace) {
  ForwardArguments a{};
  if (forward.rung.loop == Loop::kv_outer) {
    a.running_o = static_cast<float*>(workspace);
    a.running_m = a.running_o + rows_of(p) * tile.d;
    a.running_l = a.running_m + rows_of(p);
  }
  a.seq_q = static_cast<int>(p.seq_q);
  a.seq_k = static_cast<int>(p.seq_k);
  a.heads = Divider(static_cast<std::uint32_t>(p.query_heads));
  a.heads_per_kv_head = Divider(static_cast<std::uint32_t>(p.query_heads / p.kv_heads));
  a.batch_heads = static_cast<int>(batch_heads_of(p));
  a.shift = static_cast<int>(shift_of(p));
  a.q_tiles = static_cast<int>(ceil_div(p.seq_q, tile.br));
  a.turns = turns_of(tile, p, device, resident);
  a.sign = p.scale > 0 ? 1.0f : p.scale < 0 ? -1.0f : 0.0f;
  a.scale = p.scale == 0 ? 1.0f : static_cast<float>(std::abs(p.scale));
  a.scale_log2 = static_cast<float>((p.scale == 0 ? 1.0 : std::abs(p.scale)) * 1.4426950408889634);
  return a;
}

}  // namespace

FlashbenchStatus supports(const TiledForward& forward, const FlashbenchProblem& p,
                          const FlashbenchDevice& device, FlashbenchMessage* message) {
  const TiledKernel kernel = forward.find(p.dtype, p.head_dim);
  if (kernel.function == nullptr)
    return unsupported(message,
                       "not built for this dtype with head_dim " + std::to_string(p.head_dim));
  if (shares_of(forward, kernel.tile, p) > largest_grid)
    return unsupported(message, "needs more than 2^31 - 1 blocks");
  return check_shared(kernel.shared_bytes, device, message);
}

void add_cost(const TiledForward& forward, const FlashbenchProblem& p, FlashbenchCost* out) {
  const Tile tile = forward.find(p.dtype, p.head_dim).tile;
  const double pairs = static_cast<double>(batch_heads_of(p)) *
                       visits_of(forward.rung, tile, p).tiles * tile.br * tile.bc;
  FlashbenchKernelCost& kernel = out->kernels[out->kernel_count++];
  kernel.kernel = forward.kernel;
  kernel.pipe = FLASHBENCH_PIPE_MMA;
  kernel.flops = pairs * 4 * tile.d;
  kernel.exponentials = pairs;
  kernel.traffic = traffic_of(forward.rung, tile, p);
  if (forward.rung.loop == Loop::kv_outer)
    out->workspace_bytes = std::max(
        out->workspace_bytes, rows_of(p) * (tile.d + 2) * static_cast<std::int64_t>(sizeof(float)));
}

ForwardInstance create(const TiledForward& forward, const FlashbenchProblem& p,
                       const FlashbenchDevice& device, void* workspace, FlashbenchInstance* out) {
  const TiledKernel kernel = forward.find(p.dtype, p.head_dim);
  FLASHBENCH_CUDA(cudaFuncSetAttribute(kernel.function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       static_cast<int>(kernel.shared_bytes)));
  const int threads = kernel.tile.threads();
  const std::int64_t resident =
      std::int64_t{resident_blocks(kernel.function, threads, kernel.shared_bytes)} *
      device.multiprocessors;
  ForwardInstance instance{kernel,
                           arguments_of(forward, kernel.tile, p, device, resident, workspace),
                           shares_of(forward, kernel.tile, p)};
  out->launches[out->launch_count++] = describe_launch(
      forward.kernel, kernel.function, threads, kernel.shared_bytes, instance.blocks, device);
  return instance;
}

FlashbenchStatus launch(const ForwardInstance& instance, const FlashbenchForward& f, void* stream,
                        FlashbenchMessage* message) {
  if (instance.blocks == 0) return FLASHBENCH_OK;
  if (auto status = check_tensors(f, message); status != FLASHBENCH_OK) return status;
  ForwardArguments a = instance.arguments;
  a.q = f.q.data, a.k = f.k.data, a.v = f.v.data, a.o = f.o.data;
  a.q_strides = strides_of(f.q), a.k_strides = strides_of(f.k);
  a.v_strides = strides_of(f.v), a.o_strides = strides_of(f.o);
  a.lse = f.lse, a.m = f.m, a.l = f.l;
  void* parameters[] = {&a};
  FLASHBENCH_CUDA(cudaLaunchKernel(
      instance.kernel.function, dim3(static_cast<unsigned>(instance.blocks)),
      dim3(static_cast<unsigned>(instance.kernel.tile.threads())), parameters,
      static_cast<std::size_t>(instance.kernel.shared_bytes), static_cast<cudaStream_t>(stream)));
  return FLASHBENCH_OK;
}

}  // namespace flashbench::kernels
