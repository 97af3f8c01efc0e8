#include "judge/reference_cuda.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "judge/reference_rows.cuh"

namespace flashbench::judge {
namespace {

using namespace reference_kernel;

const void* kernel_of(FlashbenchDtype dtype) {
  switch (dtype) {
    case FLASHBENCH_FP16:
      return reinterpret_cast<const void*>(&reference_rows<__half>);
    case FLASHBENCH_BF16:
      return reinterpret_cast<const void*>(&reference_rows<__nv_bfloat16>);
    default:
      return reinterpret_cast<const void*>(&reference_rows<float>);
  }
}

}  // namespace

FlashbenchStatus reference_forward(const FlashbenchProblem& p, const FlashbenchForward& inputs,
                                   const ReferenceOutput& output, void* stream,
                                   FlashbenchMessage* message) {
  if (p.head_dim > detail::longest_d)
    return detail::say(FLASHBENCH_UNSUPPORTED, message,
                       "the reference takes head dimensions up to 256");
  const long long heads = p.batch * p.query_heads;
  const long long shares = heads * ((p.seq_q + rows_a_block - 1) / rows_a_block);
  if (shares == 0) return FLASHBENCH_OK;
  const FlashbenchTensor& k = inputs.k;
  const long long places[] = {p.head_dim, k.batch, k.seq, k.head,
                              static_cast<long long>(reinterpret_cast<std::uintptr_t>(k.data) / 4)};
  const bool by_eight =
      std::all_of(std::begin(places), std::end(places), [](long long x) { return x % 8 == 0; });
  Arguments a{inputs.q,
              inputs.k,
              inputs.v,
              output,
              heads,
              p.seq_q,
              p.seq_k,
              p.query_heads,
              p.query_heads / p.kv_heads,
              p.mask == FLASHBENCH_CAUSAL ? p.seq_k - p.seq_q : p.seq_k,
              static_cast<int>(p.head_dim),
              p.scale,
              by_eight};
  void* parameters[] = {&a};
  const auto blocks = static_cast<unsigned>(std::min(shares, 2147483647LL));
  const cudaError_t error = cudaLaunchKernel(kernel_of(p.dtype), dim3(blocks), dim3(threads),
                                             parameters, 0, static_cast<cudaStream_t>(stream));
  if (error != cudaSuccess) {
    cudaGetLastError();
    return detail::say(FLASHBENCH_FAILED, message, cudaGetErrorString(error));
  }
  return FLASHBENCH_OK;
}

}  // namespace flashbench::judge
