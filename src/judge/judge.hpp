// The judge's state between prepare and drop, and the comparison of one folder of outputs.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "judge/blocks.hpp"
#include "judge/gradients.hpp"
#include "judge/rule.hpp"
#include "judge/score_errors.hpp"
#include "record/messages.hpp"
#include "worker/npy.hpp"

namespace flashbench::judge {

// A tensor of a folder of outputs; throws when it is missing or has another shape.
NpyArray read_tensor(const std::string& dir, const char* tensor,
                     const std::vector<std::int64_t>& shape);

class Judge {
 public:
  // flops_limit: of a forward, and of a forward and backward, above which blocks and groups are
  // sampled.
  explicit Judge(std::unique_ptr<Reference> reference, double flops_limit = most_flops);

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
    std::vector<std::optional<ScoreErrors>> score_errors;  // one a KV head, made for the first LSE
    std::vector<Group> groups;                             // empty without a backward
    // One a group; the first without, the second with rounded scores.
    std::array<std::vector<std::optional<GroupGradients>>, 2> gradients;
  };
  struct Outputs {
    NpyArray o;
    std::optional<NpyArray> lse;  // (b, h, s)
    bool rounded_scores = false;
  };
  struct Found {
    Outcome o, lse;
  };
  // Whether the comparator rounds scores too: fp32 has nothing to round.
  bool rounds_scores(const request::Judge& request) const {
    return request.rounded_scores && problem_.dtype != Dtype::fp32;
  }
  Set make_set(const InputSet&, Pass, const Tell&);
  Outputs read(const request::Judge&) const;
  void make_score_errors(Set&) const;
  std::vector<Found> compare(Set&, const Outputs&, const Tell&);
  Found compare_run(const Set&, const Outputs&, std::size_t run,
                    const std::vector<BlockReference>&) const;

  struct GradientOutputs {
    NpyArray dq, dk, dv;
  };
  struct GradientsFound {
    Outcome dq, dk, dv;
  };
  void judge_forward(Set&, const request::Judge&, const Tell&, reply::Judge&);
  void judge_backward(Set&, const request::Judge&, const Tell&, reply::Judge&);
  GradientsFound compare_group(const Set&, const GradientOutputs&, const Group&,
                               const GroupGradients&) const;

  std::unique_ptr<Reference> reference_;
  double flops_limit_;
  Problem problem_;
  bool keep_ = false;
  std::vector<Set> sets_;
};

}  // namespace flashbench::judge
