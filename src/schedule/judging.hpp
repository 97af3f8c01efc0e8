// The judge's side of a check.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "record/messages.hpp"
#include "schedule/session.hpp"

namespace flashbench {

struct Judgement {
  Status status = Status::ok;  // of the judging, not of the row
  std::string reason;
  std::optional<std::int64_t> needed_bytes;
  std::vector<TensorCheck> tensors;
};

class Judging {
 public:
  Judging(const Roster& roster, double timeout_s)
      : session_(roster.judge_program, roster.judge_arguments, "", timeout_s) {}

  // Has the judge prepare these inputs, unless it holds them (drop() comes between two problems),
  // and asks it. `checksums` are the
  // worker's of the same inputs: unequal ones are a failure. A judge that dies is started again
  // once a question.
  Judgement judge(const request::Prepare& inputs, const std::vector<std::string>& checksums,
                  const request::Judge& question, const OnProgress& on_progress);
  void drop();
  void leave() { session_.leave(); }
  void stop() { session_.stop(); }

 private:
  Judgement ask(const request::Prepare& inputs, const std::vector<std::string>& checksums,
                const request::Judge& question, const OnProgress& on_progress);

  WorkerLink session_;
  std::optional<std::vector<std::string>> prepared_;  // the judge's checksums of what it holds
  Pass prepared_pass_ = Pass::fwd;
};

}  // namespace flashbench
