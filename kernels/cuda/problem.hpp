// What all CUDA kernels ask of a problem, a device and the tensors, and small shared arithmetic.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "kernels/cuda/error.hpp"

namespace flashbench::kernels {

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}
constexpr std::int64_t largest_grid = 2147483647;  // blocks on x

inline std::int64_t rows_of(const FlashbenchProblem& p) {
  return p.batch * p.query_heads * p.seq_q;
}
inline std::int64_t batch_heads_of(const FlashbenchProblem& p) {
  return p.batch * p.query_heads;
}

// Row r sees the keys below r + 1 + shift: bottom-right aligned if causal, all of them otherwise.
inline std::int64_t shift_of(const FlashbenchProblem& p) {
  return p.mask == FLASHBENCH_CAUSAL ? p.seq_k - p.seq_q : p.seq_k;
}

// passes: what the implementation has.
inline FlashbenchStatus check_problem(const FlashbenchProblem& p, const FlashbenchDevice& d,
                                      uint32_t passes, FlashbenchMessage* message) {
  constexpr std::int64_t longest = std::int64_t{1} << 30;
  if (d.backend != FLASHBENCH_CUDA) return unsupported(message, "needs a CUDA device");
  if (d.compute_capability < 80)
    return unsupported(
        message, "needs sm_80 or newer, this device is sm_" + std::to_string(d.compute_capability));
  if (p.passes & ~passes) return unsupported(message, "has no backward pass on CUDA");
  if (p.dtype != FLASHBENCH_FP16 && p.dtype != FLASHBENCH_BF16)
    return unsupported(message, "dtype must be fp16 or bf16");
  if (p.batch < 0 || p.query_heads <= 0 || p.kv_heads <= 0 || p.query_heads % p.kv_heads != 0)
    return unsupported(message, "kv_heads must divide query_heads");
  if (p.seq_q < 0 || p.seq_k < 0 || p.seq_q > longest || p.seq_k > longest)
    return unsupported(message, "seq must lie between 0 and 2^30");
  if (p.alignment % 16 != 0) return unsupported(message, "needs 16-byte alignment");
  return FLASHBENCH_OK;
}

inline FlashbenchStatus check_tensor(const FlashbenchTensor& t, const char* name,
                                     FlashbenchMessage* message) {
  if (reinterpret_cast<std::uintptr_t>(t.data) % 16 != 0)
    return unsupported(message, std::string(name) + " needs 16-byte alignment");
  if (t.batch % 8 != 0 || t.seq % 8 != 0 || t.head % 8 != 0)
    return unsupported(message, std::string(name) + " needs strides that are multiples of 8");
  return FLASHBENCH_OK;
}

struct NamedTensor {
  const FlashbenchTensor& tensor;
  const char* name;
};

inline FlashbenchStatus check_tensors(std::initializer_list<NamedTensor> tensors,
                                      FlashbenchMessage* message) {
  for (const NamedTensor& t : tensors)
    if (auto status = check_tensor(t.tensor, t.name, message); status != FLASHBENCH_OK)
      return status;
  return FLASHBENCH_OK;
}
inline FlashbenchStatus check_tensors(const FlashbenchForward& f, FlashbenchMessage* message) {
  return check_tensors({{f.q, "q"}, {f.k, "k"}, {f.v, "v"}, {f.o, "o"}}, message);
}
inline FlashbenchStatus check_tensors(const FlashbenchBackward& b, FlashbenchMessage* message) {
  return check_tensors({{b.q, "q"},
                        {b.k, "k"},
                        {b.v, "v"},
                        {b.o, "o"},
                        {b.d_o, "d_o"},
                        {b.dq, "dq"},
                        {b.dk, "dk"},
                        {b.dv, "dv"}},
                       message);
}

// Of a problem that has rows.
inline FlashbenchStatus check_statistics(const FlashbenchBackward& b, FlashbenchMessage* message) {
  if (b.lse || (b.m && b.l)) return FLASHBENCH_OK;
  return say(FLASHBENCH_FAILED, message, "the backward needs lse, or m and l");
}

inline FlashbenchStatus check_shared(std::int64_t bytes, const FlashbenchDevice& device,
                                     FlashbenchMessage* message) {
  if (bytes <= device.shared_bytes_per_block) return FLASHBENCH_OK;
  return unsupported(message, "needs " + std::to_string(bytes) +
                                  " bytes of shared memory a block, this device has " +
                                  std::to_string(device.shared_bytes_per_block));
}

// Blocks that have room on a multiprocessor at a time.
inline int resident_blocks(const void* function, int threads, std::int64_t dynamic_bytes) {
  int resident = 0;
  FLASHBENCH_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &resident, function, threads, static_cast<std::size_t>(dynamic_bytes)));
  return resident;
}

// What the compiler and a launch of `blocks` make of a kernel.
inline FlashbenchLaunch describe_launch(const char* name, const void* function, int threads,
                                        std::int64_t dynamic_bytes, std::int64_t blocks,
                                        const FlashbenchDevice& device) {
  cudaFuncAttributes attributes{};
  FLASHBENCH_CUDA(cudaFuncGetAttributes(&attributes, function));
  const int resident = resident_blocks(function, threads, dynamic_bytes);
  FlashbenchLaunch launch{};
  launch.kernel = name;
  launch.registers = attributes.numRegs;
  launch.spilled_bytes = static_cast<int32_t>(attributes.localSizeBytes);
  launch.threads = threads;
  launch.shared_bytes = static_cast<std::int64_t>(attributes.sharedSizeBytes) + dynamic_bytes;
  launch.blocks = blocks;
  launch.blocks_per_multiprocessor = resident;
  launch.waves = resident == 0 ? 0
                               : static_cast<double>(blocks) /
                                     (static_cast<double>(resident) * device.multiprocessors);
  return launch;
}

}  // namespace flashbench::kernels
