// The GPU's reference where it pays, the CPU's where that is done before a kernel is launched or
// where the head dimension is longer than kernels are made for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "judge/gradients.hpp"
#include "judge/reference.hpp"

namespace flashbench::judge {

class ReferenceBySize : public Reference {
 public:
  static constexpr std::int64_t few_products = 64 * 64 * 64;  // of one group of heads
  static constexpr std::int64_t longest_head_dim = 256;

  ReferenceBySize(std::unique_ptr<Reference> gpu, std::unique_ptr<Reference> cpu)
      : gpu_(std::move(gpu)), cpu_(std::move(cpu)) {}

  void drop() override {
    gpu_->drop();
    cpu_->drop();
  }
  std::int64_t footprint(const Problem& problem) const override {
    return of(problem).footprint(problem);
  }
  std::vector<BlockReference> forward(const Inputs& inputs,
                                      std::span<const Block> blocks) const override {
    return of(inputs.problem()).forward(inputs, blocks);
  }
  void round_scores(const Inputs& inputs, std::span<const Block> blocks,
                    std::span<BlockReference> references) const override {
    of(inputs.problem()).round_scores(inputs, blocks, references);
  }
  GroupGradients gradients(const Inputs& inputs, const Group& group, bool rounded_scores,
                           const std::function<void()>& finished) const override {
    return of(inputs.problem()).gradients(inputs, group, rounded_scores, finished);
  }

 private:
  const Reference& of(const Problem& p) const {
    const std::int64_t products = heads_of_group(p) * p.seq_q * p.seq_k * p.head_dim;
    return products < few_products || p.head_dim > longest_head_dim ? *cpu_ : *gpu_;
  }

  std::unique_ptr<Reference> gpu_, cpu_;
};

}  // namespace flashbench::judge
