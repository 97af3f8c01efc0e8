// The judge's state between prepare and drop, and the comparison of one folder of outputs.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "judge/blocks.hpp"
#include "judge/rule.hpp"
#include "record/messages.hpp"
#include "worker/npy.hpp"

namespace flashbench::judge {

class Judge {
 public:
  explicit Judge(std::unique_ptr<Reference> reference, double flops_limit = most_flops)
      : reference_(std::move(reference)), flops_limit_(flops_limit) {}

  reply::Any answer(const request::Any&, const Tell&);
  reply::Prepare prepare(const request::Prepare&, const Tell&);
  reply::Judge judge(const request::Judge&, const Tell&);
  reply::Drop drop();

 private:
  // References are kept for the implementations still to come, as far as memory allows.
  struct Set {
    std::unique_ptr<Inputs> inputs;
    std::vector<Block> blocks;
    std::vector<BlockRun> runs;
    std::vector<std::optional<std::vector<BlockReference>>> known;  // one a run
  };
  struct Outputs {
    NpyArray o;
    std::optional<NpyArray> lse;  // (b, h, s)
    bool coarse = false;
  };
  struct Found {
    Outcome o, lse;
  };
  Set make_set(const InputSet&, Pass, const Tell&);
  Outputs read(const request::Judge&) const;
  std::vector<Found> compare(Set&, const Outputs&, const Tell&);
  Found compare_run(const Set&, const Outputs&, std::size_t run,
                    const std::vector<BlockReference>&) const;

  std::unique_ptr<Reference> reference_;
  double flops_limit_;
  Problem problem_;
  bool keep_ = false;
  std::vector<Set> sets_;
};

}  // namespace flashbench::judge
