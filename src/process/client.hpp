// The front's end of the protocol: one request, one answer, and a clock that only finished work
// restarts.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "process/process.hpp"
#include "protocol/channel.hpp"
#include "record/messages.hpp"

namespace flashbench {

struct Answer {
  enum class Kind { reply, died, timed_out, interrupted };
  Kind kind = Kind::reply;
  Reply reply;         // with Kind::reply
  std::string reason;  // with the others, to follow a subject: "was killed by signal 9 (Killed)"
  bool left = false;   // with died: by itself, with status 0
};

using OnProgress = std::function<void(const Progress&)>;
// Looks at something else while the answer is waited for: about every 20 ms, and once for every
// answer that comes sooner.
using OnWait = std::function<void()>;

class Client {
 public:
  // Throws ProcessError.
  Client(const std::string& program, const std::vector<std::string>& arguments);

  // Waits for the reply as long as something is finished every `timeout_s` seconds. After any
  // answer but a reply the process is gone.
  Answer ask(request::Any body, double timeout_s, const OnProgress& on_progress = {},
             const OnWait& on_wait = {});
  // ask in two halves: the other side works in between. Nothing else may be asked before the answer
  // was awaited. False: the process does not listen; await will say why.
  bool send(request::Any body);
  Answer await(double timeout_s, const OnProgress& on_progress = {}, const OnWait& on_wait = {});
  // Says goodbye and gives the process some time to leave: much unless said otherwise, since a
  // profiler around it may have to write what it has gathered.
  void leave(std::chrono::milliseconds patience = std::chrono::seconds(30));

 private:
  Answer lost(Answer::Kind kind, const std::string& reason);

  Process process_;
  Channel channel_;
  std::int64_t last_id_ = 0;
};

}  // namespace flashbench
