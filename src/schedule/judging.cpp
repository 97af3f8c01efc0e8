#include "schedule/judging.hpp"

#include <fmt/format.h>

namespace flashbench {

namespace {

Judgement not_judged(const Reply& reply) {
  return {
      reply.status, fmt::format("could not be judged: {}", reply.reason), reply.needed_bytes, {}};
}

}  // namespace

std::string different_inputs(const std::string& who, const std::vector<std::string>& theirs,
                             const std::vector<std::string>& workers) {
  if (workers.empty() || workers.size() != theirs.size())
    return fmt::format("the worker gave {} checksums of its inputs and {} gave {}", workers.size(),
                       who, theirs.size());
  for (std::size_t set = 0; set < theirs.size(); ++set)
    if (theirs[set] != workers[set])
      return fmt::format("the worker's input set {} differs from that of {} (checksums {} and {})",
                         set, who, workers[set], theirs[set]);
  return {};
}

Judgement Judging::judge(const request::Prepare& inputs, const std::vector<std::string>& checksums,
                         const request::Judge& question, const OnProgress& on_progress) {
  Judgement lost_twice;
  for (int attempt = 0; attempt < 2; ++attempt) {
    try {
      return ask(inputs, checksums, question, on_progress);
    } catch (const WorkerLost& lost) {
      session_.stop();
      prepared_.reset();
      lost_twice.status = lost.timed_out ? Status::timeout : Status::crashed;
      lost_twice.reason =
          fmt::format("could not be judged, which is not its own fault: {}", lost.what());
    }
  }
  return lost_twice;
}

void Judging::begin(const request::Prepare& inputs) {
  if (prepared_ || session_.begun()) return;
  prepared_pass_ = inputs.pass;
  session_.begin(inputs);
}

Judgement Judging::ask(const request::Prepare& inputs, const std::vector<std::string>& checksums,
                       const request::Judge& question, const OnProgress& on_progress) {
  if (session_.begun() && prepared_pass_ != inputs.pass) session_.stop();
  if (!prepared_ || prepared_pass_ != inputs.pass) {
    prepared_.reset();
    prepared_pass_ = inputs.pass;
    const Reply reply = session_.finish(inputs, on_progress);
    if (reply.status != Status::ok) return not_judged(reply);
    prepared_ = body_of<reply::Prepare>(reply).checksums;
  }
  if (const std::string reason = different_inputs("the judge", *prepared_, checksums);
      !reason.empty())
    return {Status::failed, fmt::format("could not be judged: {}", reason), {}, {}};
  const Reply reply = session_.ask(question, on_progress);
  if (reply.status != Status::ok) return not_judged(reply);
  return {Status::ok, "", {}, body_of<reply::Judge>(reply).tensors};
}

void Judging::drop() {
  prepared_.reset();
  if (session_.begun()) session_.stop();  // nobody asked, and it may work for long
  if (!session_.running()) return;
  try {
    session_.ask(request::Drop{});
  } catch (const WorkerLost&) {  // started again when it is needed
  }
}

}  // namespace flashbench
