// A worker, or the judge, over the whole run: started when first asked, started again after it was
// lost.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "process/client.hpp"

namespace flashbench {

// The process is gone; one sentence that says how, and during what.
struct WorkerLost : std::runtime_error {
  WorkerLost(const std::string& what, bool by_timeout)
      : std::runtime_error(what), timed_out(by_timeout) {}
  bool timed_out;
};

// The user wants to stop; unwinds to run_plan.
struct Interrupted {};

class WorkerLink {
 public:
  struct Program {
    std::string path;
    std::vector<std::string> arguments;
    std::string device;        // said in hello at every start; empty: no hello (the judge)
    std::string called;        // in a sentence; empty: by its file's name
    bool needs_device = true;  // false: it describes without one
  };
  WorkerLink(Program, double timeout_s);

  // Starts the program if it does not run. Throws WorkerLost and Interrupted; a reply that says
  // unsupported, oom or failed is returned like any other. Waits for `patience_s` without a sign of
  // life, and never less than the time-out.
  Reply ask(const request::Any& body, const OnProgress& on_progress = {},
            const OnWait& on_wait = {}, double patience_s = 0);
  // Starts the program if it does not run, without waiting until it listens; nothing where a
  // hello has to be said. Throws nothing: whatever goes wrong shows when it is asked.
  void launch();
  // ask in two halves. begin throws nothing: whatever goes wrong shows in finish. Without a begin
  // before it, or after a stop, finish asks.
  void begin(const request::Any& body);
  Reply finish(const request::Any& body, const OnProgress& on_progress);
  bool begun() const { return begun_; }
  bool running() const { return client_ != nullptr; }
  void stop() {  // at once
    client_.reset();
    begun_ = false;
  }
  void leave();  // politely

 private:
  void start();
  Reply exchange(const request::Any& body, double timeout_s, const OnProgress& on_progress,
                 const OnWait& on_wait);
  Reply reply_of(Answer&&, const request::Any& body);

  Program program_;
  double timeout_s_;
  std::unique_ptr<Client> client_;
  bool begun_ = false;
};

// The body that an ok reply must have.
template <class Body>
const Body& body_of(const Reply& reply) {
  const Body* body = reply.body ? std::get_if<Body>(&*reply.body) : nullptr;
  if (!body) throw WorkerLost("the worker gave a reply to another question", false);
  return *body;
}

}  // namespace flashbench
