// Each call takes one head's rows through a lane: a stream with room for a call's results. The
// inputs of a set are uploaded once.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "judge/finish.hpp"
#include "judge/gpu_reference.hpp"
#include "judge/keys.hpp"
#include "judge/reference_cuda.hpp"
#include "worker/convert.hpp"
#include "worker/dtype.hpp"
#include "worker/parallel.hpp"

namespace flashbench::judge {

namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  cudaGetLastError();
  throw Refusal(error == cudaErrorMemoryAllocation ? Status::oom : Status::failed,
                fmt::format("the judge's GPU: {}", cudaGetErrorString(error)));
}

class DeviceBytes {
 public:
  explicit DeviceBytes(std::size_t bytes) {
    check(cudaMalloc(&data_, std::max<std::size_t>(bytes, 1)));
  }
  ~DeviceBytes() { cudaFree(data_); }
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;
  std::byte* data() const { return static_cast<std::byte*>(data_); }

 private:
  void* data_ = nullptr;
};

// The inputs of one set on the device, (b, h, s, d). NaN and infinities of V stand there as 0.
struct Uploaded {
  explicit Uploaded(const Inputs&);
  DeviceBytes q, k, v;
  std::vector<std::vector<Wild>> wild;  // by batch and KV head
};

Uploaded::Uploaded(const Inputs& inputs)
    : q(inputs.elements(Tensor::q).size()),
      k(inputs.elements(Tensor::k).size()),
      v(inputs.elements(Tensor::v).size()) {
  const Problem& problem = inputs.problem();
  for (const auto& [to, tensor] : {std::pair{&q, Tensor::q}, {&k, Tensor::k}, {&v, Tensor::v}}) {
    const auto from = inputs.elements(tensor);
    check(cudaMemcpy(to->data(), from.data(), from.size(), cudaMemcpyHostToDevice));
  }
  wild.resize(static_cast<std::size_t>(problem.batch * problem.kv_heads));
  const std::int64_t head = problem.seq_k * problem.head_dim;
  parallel_for(static_cast<std::int64_t>(wild.size()), [&](std::int64_t i) {
    std::vector<float> values =
        inputs.rows(Tensor::v, i / problem.kv_heads, i % problem.kv_heads, 0, problem.seq_k);
    auto& found = wild[static_cast<std::size_t>(i)] = take_wild(values, problem.head_dim);
    if (found.empty()) return;
    const auto bytes = static_cast<std::size_t>(head * bytes_of(problem.dtype));
    std::vector<std::byte> tame(bytes);
    narrow(problem.dtype, values.data(), tame.data(), head);
    check(cudaMemcpy(v.data() + static_cast<std::size_t>(i) * bytes, tame.data(), bytes,
                     cudaMemcpyHostToDevice));
  });
}

// What the device says of some rows of one head.
struct RowResults {
  std::vector<double> o, lse, top;
  std::vector<float> comparator;
};

class Lane {
 public:
  Lane(std::int64_t rows, std::int64_t d)
      : rows_(rows), d_(d), memory_(static_cast<std::size_t>(rows * (d * 12 + 16))) {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  }
  ~Lane() { cudaStreamDestroy(stream_); }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  bool fits(std::int64_t rows, std::int64_t d) const { return rows <= rows_ && d <= d_; }
  // `head`: one head of one batch, with as many query rows as are wanted.
  RowResults run(const FlashbenchProblem& head, const FlashbenchForward& inputs) {
    const auto rows = static_cast<std::size_t>(head.seq_q);
    const auto elements = rows * static_cast<std::size_t>(head.head_dim);
    auto* o = reinterpret_cast<double*>(memory_.data());
    double* lse = o + elements;
    double* top = lse + rows;
    auto* comparator = reinterpret_cast<float*>(top + rows);
    FlashbenchMessage message{};
    if (reference_forward(head, inputs, {o, lse, top, comparator}, stream_, &message) !=
        FLASHBENCH_OK)
      throw Refusal(Status::failed, fmt::format("the judge's GPU: {}", message.text));
    RowResults results;
    fetch(results.o, o, elements);
    fetch(results.lse, lse, rows);
    fetch(results.top, top, rows);
    fetch(results.comparator, comparator, elements);
    check(cudaStreamSynchronize(stream_));
    return results;
  }

 private:
  template <class T>
  void fetch(std::vector<T>& to, const T* from, std::size_t count) {
    to.resize(count);
    check(cudaMemcpyAsync(to.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost, stream_));
  }

  std::int64_t rows_, d_;
  DeviceBytes memory_;
  cudaStream_t stream_ = nullptr;
};

// Device facts are per thread: the judge's threads each choose the device before they use it.
class GpuReference : public Reference {
 public:
  explicit GpuReference(int ordinal) : ordinal_(ordinal) {}
  std::int64_t footprint(const Problem& problem) const override {
    return 8 * block_rows * (problem.head_dim * 40 + 64) + (1 << 20);
  }
  std::vector<BlockReference> forward(const Inputs&, std::span<const Block>) const override;

 private:
  std::shared_ptr<Uploaded> uploaded(const Inputs&) const;
  std::unique_ptr<Lane> lane(std::int64_t rows, std::int64_t d) const;
  RowResults rows(const Inputs&, const Uploaded&, const Block&) const;

  int ordinal_;
  mutable std::mutex guard_;
  mutable std::map<std::string, std::shared_ptr<Uploaded>> sets_;  // by checksum
  mutable std::vector<std::unique_ptr<Lane>> idle_;
};

std::shared_ptr<Uploaded> GpuReference::uploaded(const Inputs& inputs) const {
  const std::lock_guard<std::mutex> lock(guard_);
  const auto known = sets_.find(inputs.checksum());
  if (known != sets_.end()) return known->second;
  sets_.clear();
  return sets_[inputs.checksum()] = std::make_shared<Uploaded>(inputs);
}

std::unique_ptr<Lane> GpuReference::lane(std::int64_t rows, std::int64_t d) const {
  const std::lock_guard<std::mutex> lock(guard_);
  const auto found = std::ranges::find_if(idle_, [&](const auto& l) { return l->fits(rows, d); });
  if (found == idle_.end()) return std::make_unique<Lane>(rows, d);
  std::unique_ptr<Lane> lane = std::move(*found);
  idle_.erase(found);
  return lane;
}

// A causal block sees no key behind its last row's: given as many keys as that row sees, its mask
// is that of a problem of its own.
RowResults GpuReference::rows(const Inputs& inputs, const Uploaded& device,
                              const Block& rows) const {
  const Problem& problem = inputs.problem();
  const std::int64_t d = problem.head_dim, bytes = bytes_of(problem.dtype);
  FlashbenchProblem head = to_c(problem, FLASHBENCH_FORWARD);
  head.batch = head.query_heads = head.kv_heads = 1;
  head.seq_q = rows.rows;
  head.seq_k = visible_keys(problem, rows.first + rows.rows - 1);
  const auto view = [&](const DeviceBytes& of, std::int64_t first) {
    return FlashbenchTensor{of.data() + first * d * bytes, 0, d, 0};
  };
  const std::int64_t kv = rows.batch * problem.kv_heads + inputs.kv_head(rows.head);
  FlashbenchForward arguments{};
  arguments.q =
      view(device.q, (rows.batch * problem.heads + rows.head) * problem.seq_q + rows.first);
  arguments.k = view(device.k, kv * problem.seq_k);
  arguments.v = view(device.v, kv * problem.seq_k);
  std::unique_ptr<Lane> lane = this->lane(rows.rows, d);
  RowResults results = lane->run(head, arguments);
  const std::lock_guard<std::mutex> lock(guard_);
  idle_.push_back(std::move(lane));
  return results;
}

BlockReference block_of(const Problem& problem, const Block& block, const RowResults& rows,
                        std::int64_t skip, const std::vector<Wild>& wild) {
  const std::int64_t d = problem.head_dim;
  BlockReference reference;
  const auto cut = [&](const auto& from, std::int64_t each) {
    return std::vector(from.begin() + skip * each, from.begin() + (skip + block.rows) * each);
  };
  reference.o = cut(rows.o, d);
  reference.lse = cut(rows.lse, 1);
  reference.top = cut(rows.top, 1);
  const std::vector<float> other = cut(rows.comparator, d);
  hold_against(reference, other);
  patch_wild(reference, problem, block, wild);
  return reference;
}

std::vector<BlockReference> GpuReference::forward(const Inputs& inputs,
                                                  std::span<const Block> blocks) const {
  check(cudaSetDevice(ordinal_));
  const std::shared_ptr<Uploaded> device = uploaded(inputs);
  std::vector<BlockReference> references;
  for (std::size_t i = 0; i < blocks.size();) {
    Block stretch = blocks[i];  // neighbours are computed in one launch
    std::size_t end = i + 1;
    for (; end < blocks.size() && blocks[end].first == stretch.first + stretch.rows; ++end)
      stretch.rows += blocks[end].rows;
    const RowResults results = rows(inputs, *device, stretch);
    const auto& wild = device->wild[static_cast<std::size_t>(
        stretch.batch * inputs.problem().kv_heads + inputs.kv_head(stretch.head))];
    for (; i < end; ++i)
      references.push_back(
          block_of(inputs.problem(), blocks[i], results, blocks[i].first - stretch.first, wild));
  }
  return references;
}

}  // namespace

std::unique_ptr<Reference> gpu_reference(int ordinal, std::string* why) {
  cudaError_t error = cudaSetDevice(ordinal);
  if (error == cudaSuccess) error = cudaFree(nullptr);  // starts the context, or says why not
  if (error == cudaSuccess) return std::make_unique<GpuReference>(ordinal);
  cudaGetLastError();
  if (why) *why = cudaGetErrorString(error);
  return nullptr;
}

}  // namespace flashbench::judge
