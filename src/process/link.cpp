#include "process/link.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace flashbench {

namespace {

struct Doing {
  std::string operator()(const request::Hello&) const { return "starting"; }
  std::string operator()(const request::Describe& r) const { return "describing " + r.impl; }
  std::string operator()(const request::Prepare&) const { return "preparing the inputs"; }
  std::string operator()(const request::Output& r) const {
    return fmt::format("writing the output of {} ({})", r.impl, name(r.pass));
  }
  std::string operator()(const request::Judge& r) const {
    return fmt::format("judging {} ({})", r.impl, name(r.pass));
  }
  std::string operator()(const request::Run& r) const {
    return fmt::format("running {} ({})", r.impl, name(r.pass));
  }
  std::string operator()(const request::Profile& r) const {
    return fmt::format("profiling {} ({})", r.impl, name(r.pass));
  }
  std::string operator()(const request::Ceiling& r) const {
    return fmt::format("measuring the ceiling {}", r.name);
  }
  std::string operator()(const request::Count& r) const { return "counting " + r.impl; }
  std::string operator()(const request::Drop&) const { return "dropping a problem"; }
  std::string operator()(const request::Bye&) const { return "leaving"; }
};

}  // namespace

WorkerLink::WorkerLink(Program program, double timeout_s)
    : program_(std::move(program)), timeout_s_(timeout_s) {
  if (program_.called.empty())
    program_.called = std::filesystem::path(program_.path).filename().string();
}

Reply WorkerLink::ask(const request::Any& body, const OnProgress& on_progress,
                      const OnWait& on_wait, double patience_s) {
  if (!client_) start();
  return exchange(body, std::max(timeout_s_, patience_s), on_progress, on_wait);
}

void WorkerLink::launch() {
  if (client_ || !program_.device.empty()) return;  // with a hello to say, the first ask starts it
  try {
    start();
  } catch (const WorkerLost&) {  // tried again by ask
  }
}

void WorkerLink::begin(const request::Any& body) {
  try {
    if (!client_) start();
    begun_ = client_->send(body);
  } catch (const WorkerLost&) {  // tried again by finish
  }
}

Reply WorkerLink::finish(const request::Any& body, const OnProgress& on_progress) {
  if (!begun_) return ask(body, on_progress);
  begun_ = false;
  return reply_of(client_->await(timeout_s_, on_progress), body);
}

void WorkerLink::leave() {
  if (client_ && !begun_) client_->leave();
  stop();
}

void WorkerLink::start() {
  try {
    client_ = std::make_unique<Client>(program_.path, program_.arguments);
  } catch (const ProcessError& error) {
    throw WorkerLost(error.what(), false);
  }
  if (program_.device.empty()) return;
  const Reply reply = exchange(request::Hello{program_.device}, timeout_s_, {}, {});
  const auto* hello = reply.body ? std::get_if<reply::Hello>(&*reply.body) : nullptr;
  if (hello && (hello->device || !program_.needs_device)) return;
  stop();
  const std::string& reason = hello ? hello->device_reason : reply.reason;
  throw WorkerLost(fmt::format("{} cannot use the device any more: {}", program_.called,
                               reason.empty() ? "it does not say why" : reason),
                   false);
}

Reply WorkerLink::exchange(const request::Any& body, double timeout_s,
                           const OnProgress& on_progress, const OnWait& on_wait) {
  return reply_of(client_->ask(body, timeout_s, on_progress, on_wait), body);
}

Reply WorkerLink::reply_of(Answer&& answer, const request::Any& body) {
  if (answer.kind == Answer::Kind::reply) return std::move(answer.reply);
  client_.reset();
  if (answer.kind == Answer::Kind::interrupted) throw Interrupted{};
  throw WorkerLost(
      fmt::format("{} {} (while {})", program_.called, answer.reason, std::visit(Doing{}, body)),
      answer.kind == Answer::Kind::timed_out);
}

}  // namespace flashbench
