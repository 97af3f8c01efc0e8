// The request that reads hardware counters, over a device that pretends to have some.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "worker/answer.hpp"
#include "worker/backend_cpu.hpp"
#include "worker/fakes.hpp"
#include "worker/peer.hpp"
#include "worker/requests.hpp"
#include "worker/serve.hpp"

namespace flashbench {
namespace {

using namespace flashbench::testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::StartsWith;

// Counts in two passes, and says in "cold" whether it was asked to flush.
class CountingMachine : public CpuBackend {
 public:
  Counted count(const std::vector<std::string>& metrics, const std::function<void()>& call,
                bool cold) override {
    Counted counted;
    if (metrics.empty()) return counted;
    call();
    call();
    for (const std::string& metric : metrics) counted[metric] = std::nullopt;
    counted["cold"] = cold ? 1 : 0;
    return counted;
  }
};

template <class Backend>
struct Worker : Peer {
  static int serve_fakes(int descriptor) {
    Backend backend;
    return serve(fake_plugin(), {}, backend, descriptor);
  }
  Worker() : Peer(serve_fakes) { ok<reply::Hello>(request::Hello{"cpu"}); }
};

TEST(Count, ReadsOneImplementationOnThePreparedProblem) {
  Worker<CountingMachine> worker;
  worker.ok<reply::Prepare>(two_sets(small()));
  for (const Cache cache : {Cache::cold, Cache::warm})
    EXPECT_THAT(
        worker.ok<reply::Count>(request::Count{"good", Pass::fwd, {"dram"}, cache}).values,
        ElementsAre(Pair("cold", cache == Cache::cold ? 1.0 : 0.0), Pair("dram", std::nullopt)));
}

TEST(Count, WithoutMetricsAsksWhetherThereAreCountersAndNeedsNoProblem) {
  EXPECT_TRUE(Worker<CountingMachine>().ok<reply::Count>(request::Count{}).values.empty());
  const Reply refused = Worker<CpuBackend>().ask(request::Count{});
  EXPECT_EQ(refused.status, Status::unsupported);
  EXPECT_THAT(refused.reason, StartsWith("not of a CPU: "));
}

TEST(Count, OfNoProblemOrOfAnImplementationThatFailsIsRefused) {
  Worker<CountingMachine> worker;
  const Reply unprepared = worker.ask(request::Count{"good", Pass::fwd, {"dram"}, Cache::cold});
  EXPECT_EQ(unprepared.status, Status::failed);
  EXPECT_THAT(unprepared.reason, HasSubstr("no problem is prepared"));
  worker.ok<reply::Prepare>(two_sets(small()));
  const Reply failed = worker.ask(request::Count{"fails", Pass::fwd, {"dram"}, Cache::cold});
  EXPECT_EQ(failed.status, Status::failed);
  EXPECT_EQ(failed.reason, "the launch failed");
}

}  // namespace
}  // namespace flashbench
