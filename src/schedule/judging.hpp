// The judge's side of a check.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "record/messages.hpp"
#include "roster/roster.hpp"

namespace flashbench {

// Why a worker's inputs cannot be taken for those that another process (`who`) made; empty: they
// are the same. Checksums are one a set; a worker that gives none proves nothing.
std::string different_inputs(const std::string& who, const std::vector<std::string>& theirs,
                             const std::vector<std::string>& workers);

struct Judgement {
  Status status = Status::ok;  // ok: it was judged, and tensors hold the verdicts
  std::string reason;
  std::optional<std::int64_t> needed_bytes;
  std::vector<TensorCheck> tensors;
};

class Judging {
 public:
  Judging(const Roster& roster, double timeout_s)
      : session_({roster.judge_program, roster.judge_arguments, "", ""}, timeout_s) {}

  // Has the judge prepare these inputs, unless it holds them (drop() comes between two problems),
  // and asks it. `checksums` are the worker's of the same inputs: other ones, or none, are a
  // failure. A judge that dies is started again once a question; when it dies again the question is
  // lost, as crashed or timeout.
  Judgement judge(const request::Prepare& inputs, const std::vector<std::string>& checksums,
                  const request::Judge& question, const OnProgress& on_progress);
  // Starts the judge's process, which readies its device while the workers ready theirs.
  void launch() { session_.launch(); }
  // Lets the judge prepare these inputs while a worker does the same; judge() waits for it.
  void begin(const request::Prepare& inputs);
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
