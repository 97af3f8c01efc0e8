// Each slice of query rows goes through the kernels twice: in fp64, and in fp32 as the comparator.
#include "judge/gradients_cuda.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <type_traits>

#include "judge/gradient_kernels.cuh"

namespace flashbench::judge {
namespace {

using namespace detail;
constexpr std::int64_t slice_bytes = std::int64_t{1} << 29;

// The first error of a series of launches.
class Launches {
 public:
  explicit Launches(void* stream) : stream_(static_cast<cudaStream_t>(stream)) {}
  template <class... Parameters, class... Given>
  void add(void (*kernel)(Parameters...), dim3 blocks, const Given&... given) {
    launch(kernel, blocks, static_cast<Parameters>(given)...);
  }
  void clear(void* memory, std::int64_t bytes) {
    if (error == cudaSuccess)
      error = cudaMemsetAsync(memory, 0, static_cast<std::size_t>(bytes), stream_);
  }
  cudaError_t error = cudaSuccess;

 private:
  template <class... Parameters>
  void launch(void (*kernel)(Parameters...), dim3 blocks, Parameters... given) {
    void* parameters[] = {&given...};
    if (error == cudaSuccess)
      error = cudaLaunchKernel(reinterpret_cast<const void*>(kernel), blocks, dim3(threads),
                               parameters, 0, stream_);
  }
  cudaStream_t stream_;
};

unsigned tiles_of(long long count) {
  return static_cast<unsigned>((count + tile - 1) / tile);
}

// dK, dV and the largest terms begin at 0.
void clear(Launches& launches, const Slice& a, const GradientMemory& memory) {
  for (const DeviceSums& sums : {memory.dk, memory.dv}) {
    launches.clear(sums.exact, a.seq_k * a.d * 8);
    launches.clear(sums.comparator, a.seq_k * a.d * 4);
    launches.clear(sums.terms, a.seq_k * 8);
    launches.clear(sums.scores, a.seq_k * 8);
  }
}

template <class Element>
void widen(Launches& launches, const Slice& a, const FlashbenchBackward& inputs,
           const GradientMemory& to) {
  const auto rows = [&](const FlashbenchTensor& from, long long first, long long count,
                        long long seq, float* rows_to, float* most) {
    launches.add(&widen_rows<Element>, dim3(static_cast<unsigned>(count)), from, first, seq, a.d,
                 rows_to, most);
  };
  rows(inputs.q, a.first, a.rows, a.seq_q, to.q, to.q_most);
  rows(inputs.d_o, a.first, a.rows, a.seq_q, to.d_o, to.d_o_most);
  if (a.first > 0) return;
  rows(inputs.k, 0, a.seq_k, a.seq_k, to.k, to.k_most);
  rows(inputs.v, 0, a.seq_k, a.seq_k, to.v, nullptr);
}

template <class Real>
void make(Launches& launches, const Slice& a, const Made<Real>& made) {
  const unsigned rows = tiles_of(a.rows), keys = tiles_of(a.seq_k), columns = tiles_of(a.d);
  const dim3 each_row(static_cast<unsigned>(a.rows));
  launches.add(&make_scores<Real>, dim3(rows * keys, 2), a, made);
  launches.add(&make_weights<Real>, each_row, a, made);
  launches.add(&sum_over_keys<Real>, dim3(rows, columns), a, made.p, a.v, made.o);
  launches.add(&differentiate<Real>, each_row, a, made);
  launches.add(&sum_over_keys<Real>, dim3(rows, columns), a, made.ds, a.k, made.dq);
  launches.add(&sum_over_rows<Real>, dim3(keys, columns, 2), a, made);
}

template <class Real>
Made<Real> made_in(const GradientMemory& memory, const Slice& a, Real* DeviceSums::*values) {
  Made<Real> made{};
  made.p = reinterpret_cast<Real*>(memory.pairs);
  made.ds = made.p + a.rows * a.seq_k;
  made.o = reinterpret_cast<Real*>(memory.o);
  made.dq = memory.dq.*values;
  made.dk = memory.dk.*values;
  made.dv = memory.dv.*values;
  return made;
}

// The reference, and from P and dS, as long as they are there, the least errors.
void make_exact(Launches& launches, const Slice& a, const GradientMemory& memory) {
  auto made = made_in(memory, a, &DeviceSums::exact);
  made.score_sizes = memory.score_sizes;
  make(launches, a, made);
  launches.add(&sum_over_keys<double>, dim3(tiles_of(a.rows), tiles_of(a.d)), a, made.p, a.k,
               memory.p_k);
  const LeastErrorsMade errors{memory.p_k,       memory.row_errors, memory.dq.terms,
                               memory.dq.scores, memory.dk.terms,   memory.dk.scores,
                               memory.dv.terms,  memory.dv.scores};
  launches.add(&measure_rows, dim3(static_cast<unsigned>(a.rows)), a, made, errors);
  const auto blocks = (a.seq_k + threads - 1) / threads * tiles_of(a.rows);
  launches.add(&measure_keys, dim3(static_cast<unsigned>(blocks)), a, made, errors);
}

}  // namespace

GradientMemory gradient_memory(const FlashbenchProblem& group, std::int64_t rows,
                               std::byte* memory) {
  const std::int64_t d = group.head_dim, keys = group.seq_k;
  GradientMemory made{};
  const auto take = [&](auto*& place, std::int64_t count) {
    using Pointer = std::remove_reference_t<decltype(place)>;
    if (memory) place = reinterpret_cast<Pointer>(memory + made.bytes);
    made.bytes += (count * static_cast<std::int64_t>(sizeof(*place)) + 255) / 256 * 256;
  };
  const auto take_sums = [&](DeviceSums& sums, std::int64_t count) {
    take(sums.exact, count * d);
    take(sums.comparator, count * d);
    take(sums.terms, count);
    take(sums.scores, count);
  };
  take_sums(made.dq, rows);
  take_sums(made.dk, keys);
  take_sums(made.dv, keys);
  take(made.pairs, 2 * rows * keys);
  take(made.o, rows * d);
  take(made.p_k, rows * d);
  take(made.score_sizes, rows);
  take(made.row_errors, rows);
  take(made.q, rows * d);
  take(made.d_o, rows * d);
  take(made.k, keys * d);
  take(made.v, keys * d);
  take(made.q_most, rows);
  take(made.d_o_most, rows);
  take(made.k_most, keys);
  return made;
}

std::int64_t gradient_slice_rows(const FlashbenchProblem& group) {
  const std::int64_t all = group.query_heads * group.seq_q,
                     row = group.seq_k * 16 + group.head_dim * 40 + 128;
  return std::clamp<std::int64_t>(slice_bytes / row, 1, std::max<std::int64_t>(all, 1));
}

FlashbenchStatus add_gradients(const FlashbenchProblem& p, const FlashbenchBackward& inputs,
                               bool rounded_scores, const RowSlice& slice,
                               const GradientMemory& memory, void* stream,
                               FlashbenchMessage* message) {
  if (slice.rows == 0 || p.seq_k == 0) return FLASHBENCH_OK;
  const Slice a{slice.first,
                slice.rows,
                p.seq_q,
                p.seq_k,
                p.mask == FLASHBENCH_CAUSAL ? p.seq_k - p.seq_q : p.seq_k,
                static_cast<int>(p.head_dim),
                p.dtype,
                rounded_scores ? p.dtype : FLASHBENCH_FP32,
                p.scale,
                memory.q,
                memory.d_o,
                memory.k,
                memory.v,
                memory.q_most,
                memory.d_o_most,
                memory.k_most};
  Launches launches(stream);
  if (slice.first == 0) clear(launches, a, memory);
  switch (p.dtype) {
    case FLASHBENCH_FP16:
      widen<__half>(launches, a, inputs, memory);
      break;
    case FLASHBENCH_BF16:
      widen<__nv_bfloat16>(launches, a, inputs, memory);
      break;
    default:
      widen<float>(launches, a, inputs, memory);
  }
  make_exact(launches, a, memory);
  make(launches, a, made_in(memory, a, &DeviceSums::comparator));
  if (launches.error == cudaSuccess) return FLASHBENCH_OK;
  cudaGetLastError();
  return say(FLASHBENCH_FAILED, message, cudaGetErrorString(launches.error));
}

}  // namespace flashbench::judge
