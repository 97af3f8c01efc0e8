#include "process/client.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "process/interrupt.hpp"

namespace flashbench {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Signals may be delivered to another thread, so a wait never lasts longer than this.
constexpr milliseconds longest_wait{50};
constexpr milliseconds a_moment{500};

// Restarted by progress that says something new.
class Lifeline {
 public:
  explicit Lifeline(double timeout_s)
      : allowance_(std::chrono::duration_cast<Clock::duration>(
            std::chrono::duration<double>(std::clamp(timeout_s, 0.0, 1e8)))),
        deadline_(Clock::now() + allowance_) {}
  bool over() const { return Clock::now() >= deadline_; }
  milliseconds wait() const {
    const auto left = std::chrono::ceil<milliseconds>(deadline_ - Clock::now());
    return std::clamp(left, milliseconds(0), longest_wait);
  }
  void heard(const Progress& progress) {
    if (progress.done == done_ && progress.what == what_) return;
    done_ = progress.done;
    what_ = progress.what;
    deadline_ = Clock::now() + allowance_;
  }

 private:
  Clock::duration allowance_;
  Clock::time_point deadline_;
  double done_ = -1;
  std::string what_;
};

// When to look at something else while waiting.
class Lookout {
 public:
  explicit Lookout(const OnWait& look) : look_(look) {}
  milliseconds wait(milliseconds most) const {
    if (!look_) return most;
    return std::clamp(std::chrono::ceil<milliseconds>(due_ - Clock::now()), milliseconds(0), most);
  }
  void look_when_due() {
    if (look_ && Clock::now() >= due_) look();
  }
  void look_at_least_once() {
    if (look_ && !looked_) look();
  }

 private:
  // Not at once: what was asked for has to begin.
  static constexpr milliseconds first{2}, then{20};

  void look() {
    look_();
    looked_ = true;
    due_ = Clock::now() + then;
  }

  const OnWait& look_;
  bool looked_ = false;
  Clock::time_point due_ = Clock::now() + first;
};

}  // namespace

Client::Client(const std::string& program, const std::vector<std::string>& arguments)
    : process_(program, arguments), channel_(process_.take_descriptor()) {}

Answer Client::ask(request::Any body, double timeout_s, const OnProgress& on_progress,
                   const OnWait& on_wait) {
  if (!send(std::move(body))) return lost(Answer::Kind::died, "");
  return await(timeout_s, on_progress, on_wait);
}

bool Client::send(request::Any body) {
  process_.trim_words();
  return channel_.write_line(to_line(Request{++last_id_, std::move(body)}));
}

Answer Client::await(double timeout_s, const OnProgress& on_progress, const OnWait& on_wait) {
  using Read = Channel::Read;
  const std::int64_t id = last_id_;
  Lifeline life(timeout_s);
  Lookout lookout(on_wait);
  for (std::string line;;) {
    if (interrupted()) return lost(Answer::Kind::interrupted, "was interrupted");
    lookout.look_when_due();
    const Read read = channel_.read_line(line, lookout.wait(life.wait()));
    if (read == Read::closed) return lost(Answer::Kind::died, "");
    if (read == Read::too_long) return lost(Answer::Kind::died, "sent a line without an end");
    if (read != Read::line) {
      if (life.over())
        return lost(Answer::Kind::timed_out,
                    fmt::format("gave no sign of life for {:g} s", timeout_s));
      continue;
    }
    try {
      auto answer = parse_answer(line);
      if (auto* reply = std::get_if<Reply>(&answer); reply && reply->id == id) {
        lookout.look_at_least_once();
        return {Answer::Kind::reply, std::move(*reply), ""};
      }
      if (const auto* progress = std::get_if<Progress>(&answer); progress && progress->id == id) {
        life.heard(*progress);
        if (on_progress) on_progress(*progress);
      }
    } catch (const std::runtime_error& error) {
      return lost(Answer::Kind::died, fmt::format("broke the protocol: {}", error.what()));
    }
  }
}

void Client::leave(milliseconds patience) {
  channel_.write_line(to_line(Request{++last_id_, request::Bye{}}));
  process_.end(patience);
}

Answer Client::lost(Answer::Kind kind, const std::string& reason) {
  // Whoever closed its channel is given a moment, so that its own end is what gets reported.
  const std::string cause = process_.end(reason.empty() ? a_moment : milliseconds(0));
  return {kind, {}, reason.empty() ? cause : reason, process_.left()};
}

}  // namespace flashbench
