// What `flashbench claims` measures, as planned on a machine of each kind.
#include "cli/claims_sweep.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace flashbench {
namespace {

using ::testing::UnorderedElementsAre;

Roster roster_of(Backend backend, std::int64_t multiprocessors) {
  WorkerFacts worker;
  worker.source = "built-in";
  worker.backend = backend;
  worker.hello.device.emplace();
  worker.hello.device->compute_capability = 90;
  worker.hello.device->multiprocessors = multiprocessors;
  for (const char* name : {"naive", "v1", "v2", "pytorch-math", "pytorch-efficient"})
    worker.hello.implementations.push_back({name, "", "", {"fwd", "bwd", "fwd+bwd"}});
  Roster roster;
  roster.backend = backend;
  roster.workers = {worker};
  return roster;
}

std::vector<std::pair<std::int64_t, std::int64_t>> shapes_of_v1(const UserRequest& request,
                                                                const Roster& roster) {
  std::vector<std::pair<std::int64_t, std::int64_t>> shapes;  // length, heads
  for (const Case& what : make_plan(request, roster).cases)
    if (what.impl == "v1")
      shapes.emplace_back(what.problem.seq_q, what.problem.batch * what.problem.heads);
  return shapes;
}

TEST(ClaimsSweep, AtFewHeadsHasOneAndOnAGpuAsManyAsItHasMultiprocessors) {
  using Shape = std::pair<std::int64_t, std::int64_t>;
  const Roster gpu = roster_of(Backend::cuda, 132), cpu = roster_of(Backend::cpu, 4);
  EXPECT_THAT(shapes_of_v1(claims_at_few_heads(gpu), gpu),
              UnorderedElementsAre(Shape(2048, 1), Shape(16384, 1), Shape(16384, 132)));
  EXPECT_THAT(shapes_of_v1(claims_at_few_heads(cpu), cpu),
              UnorderedElementsAre(Shape(1024, 1), Shape(4096, 1)));
}

TEST(ClaimsSweep, AtFewHeadsTakesSamplesEnoughForAnIntervalAndAGpusCounters) {
  for (const Backend backend : {Backend::cuda, Backend::cpu}) {
    const Options options = claims_at_few_heads(roster_of(backend, 8)).options;
    EXPECT_GE(options.iters, least_for_interval);
    EXPECT_EQ(options.counters, backend == Backend::cuda);
  }
}

// One head's times would otherwise be taken for those of V1 and V2 at that length.
TEST(ClaimsSweep, MeasuresEveryLengthOfFewHeadsWithManyToo) {
  for (const Backend backend : {Backend::cuda, Backend::cpu}) {
    const Roster roster = roster_of(backend, 16);
    std::vector<std::pair<std::int64_t, std::int64_t>> all =
        shapes_of_v1(claims_on_device(roster, std::nullopt), roster);
    const auto few = shapes_of_v1(claims_at_few_heads(roster), roster);
    all.insert(all.end(), few.begin(), few.end());
    for (const auto& [seq, heads] : few)
      EXPECT_TRUE(std::ranges::any_of(all, [&](const auto& other) {
        return other.first == seq && other.second > 1;
      })) << seq;
  }
}

TEST(ClaimsSweep, TakesTheBudgetThatIsAskedFor) {
  const Roster cpu = roster_of(Backend::cpu, 4);
  EXPECT_EQ(claims_on_device(cpu, std::nullopt).options.iters, 8);
  const Options options = claims_on_device(cpu, 3.0).options;
  EXPECT_EQ(options.time_budget_s, 3);
  EXPECT_EQ(options.iters, std::nullopt) << "a count would end the row before";
}

}  // namespace
}  // namespace flashbench
