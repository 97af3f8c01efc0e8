// Streams with room for the gradients of a group on the GPU.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "judge/gpu_lane.hpp"
#include "judge/gradients.hpp"
#include "judge/gradients_cuda.hpp"

namespace flashbench::judge {

// dQ of a group's heads one after the other.
struct GroupSums {
  GradientSums dq, dk, dv;
};

class GradientLane {
 public:
  explicit GradientLane(std::int64_t bytes)
      : bytes_(bytes), memory_(static_cast<std::size_t>(bytes)) {}

  static std::int64_t bytes_for(const FlashbenchProblem& group) {
    return gradient_memory(group, gradient_slice_rows(group), nullptr).bytes;
  }
  bool fits(std::int64_t bytes) const { return bytes <= bytes_; }
  // As add_gradients, for all slices. Calls `finished` after each.
  GroupSums run(const FlashbenchProblem& group, const FlashbenchBackward& inputs,
                bool rounded_scores, const std::function<void()>& finished) {
    const std::int64_t d = group.head_dim, rows = group.query_heads * group.seq_q;
    const std::int64_t step = gradient_slice_rows(group);
    GroupSums sums{zeros(rows, d), zeros(group.seq_k, d), zeros(group.seq_k, d)};
    if (rows == 0 || group.seq_k == 0) return sums;
    const GradientMemory memory = gradient_memory(group, step, memory_.data());
    for (std::int64_t first = 0; first < rows; first += step) {
      const RowSlice slice{first, std::min(step, rows - first)};
      FlashbenchMessage message{};
      if (add_gradients(group, inputs, rounded_scores, slice, memory, stream_.get(), &message) !=
          FLASHBENCH_OK)
        throw Refusal(Status::failed, fmt::format("the judge's GPU: {}", message.text));
      fetch(sums.dq, memory.dq, slice, d);
      stream_.wait();
      finished();
    }
    fetch(sums.dk, memory.dk, {0, group.seq_k}, d);
    fetch(sums.dv, memory.dv, {0, group.seq_k}, d);
    stream_.wait();
    return sums;
  }

 private:
  static GradientSums zeros(std::int64_t rows, std::int64_t d) {
    const auto elements = static_cast<std::size_t>(rows * d);
    const std::vector<double> each_row(static_cast<std::size_t>(rows));
    return {std::vector<double>(elements), std::vector<float>(elements), {each_row, each_row}};
  }
  void fetch(GradientSums& to, const DeviceSums& from, const RowSlice& rows, std::int64_t d) {
    stream_.fetch(to.exact.data() + rows.first * d, from.exact, rows.rows * d);
    stream_.fetch(to.comparator.data() + rows.first * d, from.comparator, rows.rows * d);
    stream_.fetch(to.least.terms.data() + rows.first, from.terms, rows.rows);
    stream_.fetch(to.least.scores.data() + rows.first, from.scores, rows.rows);
  }

  std::int64_t bytes_;
  DeviceBytes memory_;
  Stream stream_;
};

// A few lanes for any number of threads. Their memory is given back when none is in use, for it is
// wanted by the workers.
class GradientLanes {
 public:
  GroupSums run(const FlashbenchProblem& group, const FlashbenchBackward& inputs,
                bool rounded_scores, const std::function<void()>& finished) {
    const Turn turn(*this);
    std::unique_ptr<GradientLane> lane = idle(GradientLane::bytes_for(group));
    GroupSums sums = lane->run(group, inputs, rounded_scores, finished);
    const std::lock_guard<std::mutex> lock(guard_);
    idle_.push_back(std::move(lane));
    return sums;
  }

 private:
  static constexpr int most_in_use = 4;

  class Turn {
   public:
    explicit Turn(GradientLanes& lanes) : lanes_(lanes) {
      std::unique_lock<std::mutex> lock(lanes_.guard_);
      lanes_.left_.wait(lock, [&] { return lanes_.in_use_ < most_in_use; });
      ++lanes_.in_use_;
    }
    ~Turn() {
      const std::lock_guard<std::mutex> lock(lanes_.guard_);
      if (--lanes_.in_use_ == 0) lanes_.idle_.clear();
      lanes_.left_.notify_one();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    GradientLanes& lanes_;
  };

  std::unique_ptr<GradientLane> idle(std::int64_t bytes) {
    {
      const std::lock_guard<std::mutex> lock(guard_);
      const auto found = std::ranges::find_if(idle_, [&](const auto& l) { return l->fits(bytes); });
      if (found != idle_.end()) {
        auto lane = std::move(*found);
        idle_.erase(found);
        return lane;
      }
    }
    return std::make_unique<GradientLane>(bytes);
  }

  std::mutex guard_;
  std::condition_variable left_;
  int in_use_ = 0;
  std::vector<std::unique_ptr<GradientLane>> idle_;
};

}  // namespace flashbench::judge
