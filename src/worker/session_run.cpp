// The run operation: one turn of timed samples.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <utility>

#include "worker/session.hpp"

namespace flashbench {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::int64_t longest_batch = 32;  // samples enqueued before times are read, at most

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// A reply is one line of at most 1 MiB, so a turn by time ends here at the latest.
constexpr std::int64_t most_timed = 10000;

// How far a turn has come, and how many samples to enqueue next.
class Progression {
 public:
  explicit Progression(const request::Run& request) : request_(request) {}
  double elapsed_ms() const { return ms_since(start_); }
  // The most that may be next; 0 when the turn is over. At least one sample is always taken.
  std::int64_t longest_next(std::int64_t taken) const {
    if (request_.count) return std::clamp<std::int64_t>(*request_.count - taken, 0, longest_batch);
    if (taken == 0) return 1;
    if (taken >= most_timed) return 0;
    const double left = request_.for_ms.value_or(0) - elapsed_ms();
    if (left <= 0) return 0;
    const double each = std::max(elapsed_ms() / static_cast<double>(taken), 1e-3);
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(left / each), 1,
                                    std::min(longest_batch, most_timed - taken));
  }
  void tell(const Tell& tell, std::int64_t taken) const {
    const std::string what = fmt::format("timing {}", request_.impl);
    if (request_.count)
      return tell(static_cast<double>(taken), static_cast<double>(*request_.count), what);
    tell(std::min(elapsed_ms(), request_.for_ms.value_or(0)), request_.for_ms.value_or(0), what);
  }

 private:
  const request::Run& request_;
  Clock::time_point start_ = Clock::now();
};

// Samples in batches of random length. The last of each batch begins with outputs full of NaN, and
// its outputs are hashed: which samples these are no implementation can know.
class Turn {
 public:
  Turn(const request::Run& request, DeviceBackend& backend, LiveInstance& live,
       std::vector<TensorSet*> sets, std::mt19937_64& random)
      : request_(request), backend_(backend), live_(live), sets_(std::move(sets)), random_(random) {
    reply_.hashes.resize(sets_.size());
  }

  reply::Run take(const Tell& tell) {
    open();
    const Progression progression(request_);
    while (const std::int64_t longest = progression.longest_next(taken())) {
      take_batch(std::uniform_int_distribution<std::int64_t>(1, longest)(random_));
      progression.tell(tell, taken());
    }
    reply_.wall_ms = progression.elapsed_ms();
    for (std::size_t set = 0; set < sets_.size(); ++set)
      if (was_run(set) && reply_.hashes[set].empty()) check_untimed(set);
    return std::move(reply_);
  }

 private:
  std::int64_t taken() const { return static_cast<std::int64_t>(reply_.samples.size()); }
  std::size_t set_of(std::int64_t sample) const {
    return static_cast<std::size_t>(request_.first_set + sample) % sets_.size();
  }
  bool was_run(std::size_t set) const {
    return std::ranges::any_of(reply_.samples, [set](const Sample& sample) {
      return sample.set == static_cast<int>(set);
    });
  }
  std::string hash(std::size_t set) const { return sets_[set]->hash(request_.pass, live_.saves()); }

  void open() {
    const std::size_t set = set_of(0);
    sets_[set]->poison(request_.pass);
    if (sets_[set]->bytes_written(request_.pass, live_.saves()) > 0) untouched_ = hash(set);
    live_.run(request_.pass, *sets_[set]);  // untimed
    backend_.synchronize();
  }
  // The flush of a cold sample comes after the poison, and takes it out of the cache again; a warm
  // one finds there what it is about to write.
  void take_batch(std::int64_t count) {
    const std::int64_t first = taken(), last = first + count - 1;
    for (std::int64_t i = first; i <= last; ++i) {
      TensorSet& set = *sets_[set_of(i)];
      if (i == last) set.poison(request_.pass);
      const auto call = [&] {
        const auto start = Clock::now();
        live_.run(request_.pass, set);
        reply_.enqueue_ms += ms_since(start);
      };
      backend_.sample(call, request_.cache == Cache::cold);
    }
    for (const double ms : backend_.collect_samples())
      reply_.samples.push_back({ms, static_cast<int>(set_of(taken()))});
    if (taken() != last + 1) throw Refusal(Status::failed, "the timer lost samples");
    check(set_of(last));
  }
  // An input set whose samples were all in the midst of a batch.
  void check_untimed(std::size_t set) {
    sets_[set]->poison(request_.pass);
    if (live_.collects() && request_.pass == Pass::bwd) live_.forward(*sets_[set]);
    live_.run(request_.pass, *sets_[set]);
    check(set);
  }
  // What the last run left, in poisoned outputs.
  void check(std::size_t set) {
    live_.collect(request_.pass, *sets_[set]);
    backend_.synchronize();
    const std::string left = hash(set);
    if (left == untouched_)
      throw Refusal(Status::failed, "a timed launch left its outputs as they were before it");
    std::string& known = reply_.hashes[set];
    if (known.empty())
      known = left;
    else if (!known.starts_with(left))
      known = known.substr(0, left.size()) + " and " + left;
  }

  const request::Run& request_;
  DeviceBackend& backend_;
  LiveInstance& live_;
  std::vector<TensorSet*> sets_;
  std::mt19937_64& random_;
  std::string untouched_;  // the hash of poisoned outputs; empty where there are none
  reply::Run reply_;
};

}  // namespace

reply::Run Session::run(const request::Run& request, const Tell& tell) {
  set(request.first_set);  // refuses what was not prepared
  LiveInstance& live = instance(request.impl, request.pass);
  std::vector<TensorSet*> sets;
  for (const auto& each : sets_) sets.push_back(each.get());
  if (request.pass == Pass::bwd)
    for (TensorSet* each : sets) run_forward(request.impl, request.pass, *each);
  reply::Run reply;
  try {
    reply = Turn(request, backend_, live, sets, random_).take(tell);
  } catch (...) {
    if (backend_.pending_samples() > 0) backend_.collect_samples();
    throw;
  }
  for (TensorSet* each : sets)
    if (reply.guard_reason.empty()) reply.guard_reason = each->broken(false);
  if (reply.guard_reason.empty()) reply.guard_reason = live.broken();
  reply.guards_intact = reply.guard_reason.empty();
  if (!reply.guards_intact) undo_damage(tell);
  if (request.cache == Cache::cold) reply.flush_bytes = backend_.flush_bytes();
  return reply;
}

}  // namespace flashbench
