// The run operation: one turn of timed samples.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "worker/session.hpp"

namespace flashbench {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::int64_t longest_batch = 32;  // samples enqueued before times are read

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
  // 0 when the turn is over. At least one sample is always taken.
  std::int64_t next_batch(std::int64_t taken) const {
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

void take_samples(const request::Run& request, DeviceBackend& backend, LiveInstance& live,
                  const std::vector<TensorSet*>& sets, const Tell& tell, reply::Run& reply) {
  const Progression progression(request);
  const auto first = static_cast<std::size_t>(request.first_set);
  while (true) {
    const auto taken = static_cast<std::int64_t>(reply.samples.size());
    const std::int64_t batch = progression.next_batch(taken);
    if (batch == 0) break;
    for (std::int64_t i = 0; i < batch; ++i) {
      const std::size_t index = (first + static_cast<std::size_t>(taken + i)) % sets.size();
      const auto call = [&] {
        const auto start = Clock::now();
        live.run(request.pass, *sets[index]);
        reply.enqueue_ms += ms_since(start);
      };
      backend.sample(call, request.cache == Cache::cold);
    }
    for (const double ms : backend.collect_samples()) {
      const std::size_t index = (first + reply.samples.size()) % sets.size();
      reply.samples.push_back({ms, static_cast<int>(index)});
    }
    if (static_cast<std::int64_t>(reply.samples.size()) != taken + batch)
      throw Refusal(Status::failed, "the timer lost samples");
    progression.tell(tell, taken + batch);
  }
  reply.wall_ms = progression.elapsed_ms();
}

}  // namespace

reply::Run Session::run(const request::Run& request, const Tell& tell) {
  TensorSet& opening = set(request.first_set);
  LiveInstance& live = instance(request.impl, request.pass);
  std::vector<TensorSet*> sets;
  for (const auto& each : sets_) sets.push_back(each.get());
  if (request.pass == Pass::bwd)
    for (TensorSet* each : sets) run_forward(request.impl, request.pass, *each);
  live.run(request.pass, opening);  // untimed
  backend_.synchronize();
  for (TensorSet* each : sets) each->poison(request.pass);
  backend_.synchronize();
  reply::Run reply;
  try {
    take_samples(request, backend_, live, sets, tell, reply);
  } catch (...) {
    if (backend_.pending_samples() > 0) backend_.collect_samples();
    throw;
  }
  reply.hashes.resize(sets.size());
  for (const Sample& sample : reply.samples) {
    const auto index = static_cast<std::size_t>(sample.set);
    if (!reply.hashes[index].empty()) continue;
    if (live.collects()) {  // the library's memory holds the last run only
      if (request.pass == Pass::bwd) live.forward(*sets[index]);
      live.run(request.pass, *sets[index]);
      live.collect(request.pass, *sets[index]);
      backend_.synchronize();
    }
    reply.hashes[index] = sets[index]->hash(request.pass, live.saves());
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
