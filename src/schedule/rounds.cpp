#include <algorithm>
#include <set>

#include "schedule/group.hpp"

namespace flashbench {

namespace {

constexpr double ceiling_ms = 20;
// Enough for a steady median; later rounds of a long group would only pay for it.
constexpr int ceiling_rounds = 12, ceiling_every = 3;

bool in_rounds(const RowRun* run) {
  return !run->finished && !run->set_aside;
}

// Untimed runs that the user asked for, beyond the one that opens each turn.
void warm_up(Bench& bench, RowRun& run, bool alone) {
  const Case& what = run.what();
  constexpr std::int64_t most = 1000;  // at a time: a reply is one line
  for (std::int64_t left = bench.options.warmup.value_or(0); left > 0; left -= most) {
    const std::int64_t count = std::min(left, most);
    const Reply reply =
        bench.ask_to_run(run, request::Run{what.impl, what.pass, {}, count, what.cache, 0});
    if (reply.status != Status::ok) return settle(bench, run, reply, alone);
  }
}

void turn(Bench& bench, RowRun& run, bool alone) {
  using Clock = std::chrono::steady_clock;
  const std::string doing = "timing " + short_name(run.what());
  bench.pace.say(doing);
  const auto started = Clock::now();
  const Reply reply = bench.ask_to_run(run, next_turn(run, bench.options),
                                       bench.pace.listener(doing), bench.watch(run));
  run.spent_s += std::chrono::duration<double>(Clock::now() - started).count();
  if (reply.status != Status::ok) return settle(bench, run, reply, alone);
  const auto& samples = body_of<reply::Run>(reply);
  if (samples.flush_bytes) bench.measurement.flush_bytes = samples.flush_bytes;
  if (const std::string reason = take_turn(run, samples); !reason.empty())
    bench.finish(run, Status::failed, reason);
}

// The ceilings that bound these rows: their pipes, exponentials, and always the copy.
std::set<std::string> ceilings_of(const std::vector<RowRun*>& rows) {
  std::set<std::string> names{"copy"};
  for (const RowRun* run : rows) {
    if (!run->row.cost) continue;
    for (const KernelCost& kernel : run->row.cost->kernels) {
      if (kernel.pipe != Pipe::none) names.emplace(name(kernel.pipe));
      if (kernel.exponentials > 0) names.emplace("exp2");
    }
  }
  return names;
}

void ceiling_turns(Bench& bench, const std::vector<RowRun*>& rows) {
  for (std::size_t i = 0; i < bench.workers.size(); ++i) {
    const WorkerFacts& facts = bench.roster.workers[i];
    if (facts.source != "built-in") continue;
    const auto& known = facts.hello.ceilings;
    for (const std::string& name : ceilings_of(rows))
      if (bench.ceilings.usable(name) && std::ranges::find(known, name) != known.end())
        bench.ceilings.measure(bench.workers[i], name, ceiling_ms);
  }
}

void note_company(const std::vector<RowRun*>& rows) {
  for (RowRun* run : rows) {
    run->row.shared_rounds_with.clear();
    for (const RowRun* other : rows)
      if (other != run) run->row.shared_rounds_with.push_back(key(other->what()));
  }
}

}  // namespace

void run_rounds(Bench& bench, const std::vector<RowRun*>& all, bool alone,
                const std::function<void(RowRun&)>& conclude) {
  std::vector<RowRun*> rows;
  std::ranges::copy_if(all, std::back_inserter(rows), in_rounds);
  note_company(rows);
  for (RowRun* run : rows) warm_up(bench, *run, alone);
  const std::vector<RowRun*> company = rows;
  // At once, not after the last round: what has enough must survive whatever others do.
  const auto conclude_if_enough = [&](RowRun& run) {
    if (in_rounds(&run) && enough(run, bench.options)) conclude(run);
  };
  for (RowRun* run : rows) conclude_if_enough(*run);
  for (int round = 0;; ++round) {
    std::erase_if(rows, [](const RowRun* run) { return !in_rounds(run); });
    if (rows.empty()) return;
    const std::size_t first = static_cast<std::size_t>(round) % rows.size();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      RowRun& run = *rows[(first + i) % rows.size()];
      turn(bench, run, alone);
      conclude_if_enough(run);
    }
    if (round < ceiling_rounds && round % ceiling_every == 0) ceiling_turns(bench, company);
  }
}

}  // namespace flashbench
