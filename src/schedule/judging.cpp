#include "schedule/judging.hpp"

#include <fmt/format.h>

namespace flashbench {

Judgement Judging::judge(const request::Prepare& inputs, const std::vector<std::string>& checksums,
                         const request::Judge& question, const OnProgress& on_progress) {
  std::string cause;
  for (int attempt = 0; attempt < 2; ++attempt) {
    try {
      return ask(inputs, checksums, question, on_progress);
    } catch (const WorkerLost& lost) {
      session_.stop();
      prepared_.reset();
      cause = lost.what();
    }
  }
  return {Status::failed, fmt::format("could not be judged: {}", cause), {}, {}};
}

Judgement Judging::ask(const request::Prepare& inputs, const std::vector<std::string>& checksums,
                       const request::Judge& question, const OnProgress& on_progress) {
  if (!prepared_ || prepared_pass_ != inputs.pass) {
    prepared_.reset();
    prepared_pass_ = inputs.pass;
    const Reply reply = session_.ask(inputs, on_progress);
    if (reply.status != Status::ok)
      return {reply.status,
              fmt::format("the judge cannot hold these inputs: {}", reply.reason),
              reply.needed_bytes,
              {}};
    prepared_ = body_of<reply::Prepare>(reply).checksums;
  }
  const bool comparable = !prepared_->empty() && prepared_->size() == checksums.size();
  if (comparable && *prepared_ != checksums)
    return {Status::failed, "could not be judged: worker and judge made different inputs", {}, {}};
  const Reply reply = session_.ask(question, on_progress);
  if (reply.status != Status::ok)
    return {
        reply.status, fmt::format("could not be judged: {}", reply.reason), reply.needed_bytes, {}};
  return {Status::ok, "", {}, body_of<reply::Judge>(reply).tensors};
}

void Judging::drop() {
  prepared_.reset();
  if (!session_.running()) return;
  try {
    session_.ask(request::Drop{});
  } catch (const WorkerLost&) {  // started again when it is needed
  }
}

}  // namespace flashbench
