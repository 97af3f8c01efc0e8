// Each call takes one head's rows through a lane. The inputs of a set are uploaded once.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>

#include "judge/comparator.hpp"
#include "judge/device_inputs.hpp"
#include "judge/finish.hpp"
#include "judge/gpu_reference.hpp"
#include "judge/gradient_lane.hpp"

namespace flashbench::judge {

namespace {

// The checksum alone is of logical rows: other lengths may share it, and lie otherwise.
std::string identity_of(const Inputs& inputs) {
  const Problem& p = inputs.problem();
  return fmt::format("{} {} {} {} {} {} {} {}", inputs.checksum(), p.batch, p.heads, p.kv_heads,
                     p.seq_q, p.seq_k, p.head_dim, name(p.dtype));
}

// Device facts are per thread: the judge's threads each choose the device before they use it.
class GpuReference : public Reference {
 public:
  explicit GpuReference(int ordinal) : ordinal_(ordinal) {}
  std::int64_t footprint(const Problem& problem) const override {
    return 8 * block_rows * (problem.head_dim * 40 + 64) + (1 << 20);
  }
  void drop() override { sets_.clear(); }
  std::vector<BlockReference> forward(const Inputs&, std::span<const Block>) const override;
  void round_scores(const Inputs&, std::span<const Block>,
                    std::span<BlockReference>) const override;
  // A group with NaN or infinity, or for which the device has no memory, is left to the CPU.
  GroupGradients gradients(const Inputs&, const Group&, bool rounded_scores,
                           const std::function<void()>& finished) const override;

 private:
  std::shared_ptr<DeviceInputs> uploaded(const Inputs&) const;
  // Calls use(Lane&) with a lane that has room for as many rows.
  template <class Use>
  auto with_lane(std::int64_t rows, std::int64_t d, Use use) const;

  int ordinal_;
  mutable std::mutex guard_;
  mutable std::map<std::string, std::shared_ptr<DeviceInputs>> sets_;  // by identity
  mutable std::vector<std::unique_ptr<Lane>> idle_;
  mutable GradientLanes gradient_lanes_;
};

std::shared_ptr<DeviceInputs> GpuReference::uploaded(const Inputs& inputs) const {
  const std::string identity = identity_of(inputs);
  const std::lock_guard<std::mutex> lock(guard_);
  const auto known = sets_.find(identity);
  if (known != sets_.end()) return known->second;
  sets_.clear();
  return sets_[identity] = std::make_shared<DeviceInputs>(inputs, ordinal_);
}

template <class Use>
auto GpuReference::with_lane(std::int64_t rows, std::int64_t d, Use use) const {
  std::unique_ptr<Lane> lane;
  {
    const std::lock_guard<std::mutex> lock(guard_);
    const auto found = std::ranges::find_if(idle_, [&](const auto& l) { return l->fits(rows, d); });
    if (found != idle_.end()) {
      lane = std::move(*found);
      idle_.erase(found);
    }
  }
  if (!lane) lane = std::make_unique<Lane>(rows, d);
  auto result = use(*lane);
  const std::lock_guard<std::mutex> lock(guard_);
  idle_.push_back(std::move(lane));
  return result;
}

// Neighbours are computed in one launch: calls each(first block, count, their rows together).
template <class Each>
void for_stretches(std::span<const Block> blocks, Each each) {
  for (std::size_t first = 0, end; first < blocks.size(); first = end) {
    Block stretch = blocks[first];
    for (end = first + 1; end < blocks.size() && blocks[end].first == stretch.first + stretch.rows;
         ++end)
      stretch.rows += blocks[end].rows;
    each(first, end - first, stretch);
  }
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
  hold_against(reference, rows.comparator.subspan(static_cast<std::size_t>(skip * d),
                                                  static_cast<std::size_t>(block.rows * d)));
  patch_wild(reference, problem, block, wild);
  return reference;
}

// The draws of one block whose rows begin at `at` of the stretch.
void add_tasks(std::vector<DrawTask>& tasks, const BlockReference& reference, std::int64_t at,
               std::size_t slot) {
  const std::vector<std::int64_t> rows = rows_to_draw(reference);
  const int end = rows.empty() ? 1 : static_cast<int>(drawn_rows / rows.size()) + 1;
  for (const std::int64_t row : rows)
    for (int draw = 1; draw < end; draw += most_draws)
      tasks.push_back({static_cast<int>(at + row), draw, std::min(most_draws, end - draw),
                       static_cast<int>(slot)});
}

std::vector<BlockReference> GpuReference::forward(const Inputs& inputs,
                                                  std::span<const Block> blocks) const {
  check(cudaSetDevice(ordinal_));
  const std::shared_ptr<DeviceInputs> device = uploaded(inputs);
  const Problem& problem = inputs.problem();
  std::vector<BlockReference> references;
  for_stretches(blocks, [&](std::size_t first, std::size_t count, const Block& stretch) {
    const HeadProblem head = device->head(problem, stretch);
    const auto errors = with_lane(stretch.rows, problem.head_dim, [&](Lane& lane) {
      const RowResults results = lane.run(head.problem, head.arguments);
      std::vector<DrawTask> tasks;
      for (std::size_t i = 0; i < count; ++i) {
        const Block& block = blocks[first + i];
        const std::int64_t at = block.first - stretch.first;
        references.push_back(block_of(problem, block, results, at, device->wild(stretch)));
        add_tasks(tasks, references.back(), at, i);
      }
      if (problem.dtype == Dtype::fp32) return std::vector<float>(count);  // rounds nothing
      return lane.draw(head.problem, head.arguments, tasks, count, false);
    });
    for (std::size_t i = 0; i < count; ++i) {
      double& error = references[first + i].comparator_error;
      error = std::max<double>(error, errors[i]);
    }
  });
  return references;
}

void GpuReference::round_scores(const Inputs& inputs, std::span<const Block> blocks,
                                std::span<BlockReference> references) const {
  const Problem& problem = inputs.problem();
  check(cudaSetDevice(ordinal_));
  const std::shared_ptr<DeviceInputs> device = uploaded(inputs);
  for_stretches(blocks, [&](std::size_t first, std::size_t count, const Block& stretch) {
    const HeadProblem head = device->head(problem, stretch);
    std::vector<double> exact;
    std::vector<DrawTask> tasks;
    for (std::size_t i = 0; i < count; ++i) {
      const BlockReference& reference = references[first + i];
      const std::int64_t at = blocks[first + i].first - stretch.first;
      add_tasks(tasks, reference, at, i);
      for (std::int64_t row = at; row < at + blocks[first + i].rows; ++row)
        tasks.push_back({static_cast<int>(row), 0, 1, static_cast<int>(i)});
      exact.insert(exact.end(), reference.o.begin(), reference.o.end());
    }
    const auto errors = with_lane(stretch.rows, problem.head_dim, [&](Lane& lane) {
      lane.put_exact(exact);
      return lane.draw(head.problem, head.arguments, tasks, count, true);
    });
    for (std::size_t i = 0; i < count; ++i) references[first + i].rounded_scores_error = errors[i];
  });
}

// One head of dQ out of all of a group's.
Gradient head_of(const Gradient& all, std::int64_t head, std::int64_t rows, std::int64_t d) {
  const auto cut = [&](const auto& from, std::int64_t row) {
    return std::vector(from.begin() + head * rows * row, from.begin() + (head + 1) * rows * row);
  };
  return {cut(all.exact, d), cut(all.comparator, d), cut(all.least_error, 1), false};
}

GroupGradients GpuReference::gradients(const Inputs& inputs, const Group& group,
                                       bool rounded_scores,
                                       const std::function<void()>& finished) const {
  if (!all_finite(inputs, group)) return cpu_gradients(inputs, group, rounded_scores, finished);
  check(cudaSetDevice(ordinal_));
  const Problem& whole = inputs.problem();
  GroupSums sums;
  try {
    const std::shared_ptr<DeviceInputs> device = uploaded(inputs);
    const GroupProblem problem = device->group(whole, group);
    sums = gradient_lanes_.run(problem.problem, problem.arguments, rounded_scores, finished);
  } catch (const Refusal& refusal) {
    if (refusal.status != Status::oom) throw;
    return cpu_gradients(inputs, group, rounded_scores, finished);
  }
  GroupGradients result;
  const Gradient dq = finished_gradient(whole.dtype, whole.scale, std::move(sums.dq));
  for (std::int64_t h = 0; h < heads_of_group(whole); ++h)
    result.dq.push_back(head_of(dq, h, whole.seq_q, whole.head_dim));
  result.dk = finished_gradient(whole.dtype, whole.scale, std::move(sums.dk));
  result.dv = finished_gradient(whole.dtype, 1, std::move(sums.dv));
  return result;
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
