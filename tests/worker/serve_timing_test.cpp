// What a worker answers when it is asked to time: the samples, the hashes of their outputs, and
// what it notices of launches that compute nothing.
#include <gmock/gmock.h>

#include "worker/backend_cpu.hpp"
#include "worker/fakes.hpp"
#include "worker/peer.hpp"
#include "worker/requests.hpp"
#include "worker/serve.hpp"

namespace flashbench {
namespace {

using namespace flashbench::testing;

int serve_fakes(int descriptor) {
  CpuBackend backend;
  return serve(fake_plugin(), {}, backend, descriptor);
}

struct Worker : Peer {
  Worker() : Peer(serve_fakes) { ok<reply::Hello>(request::Hello{"cpu"}); }
};

TEST(ServeTiming, TimesAlternatingSetsWhoseOutputsHashToWhatWasJudged) {
  Worker worker;
  worker.ok<reply::Prepare>(two_sets(small()));
  const auto first = worker.ok<reply::Output>(output("good", "", 0));
  const auto second = worker.ok<reply::Output>(output("good", "", 1));
  const auto timed = worker.ok<reply::Run>(run("good", 5, 1));
  ASSERT_EQ(timed.samples.size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(timed.samples[i].set, i % 2 == 0 ? 1 : 0);
    EXPECT_GT(timed.samples[i].ms, 0);
  }
  EXPECT_EQ(timed.hashes, (std::vector<std::string>{first.hash, second.hash}));
  EXPECT_GE(timed.flush_bytes.value_or(0), 1 << 17);
  EXPECT_GE(timed.wall_ms, timed.enqueue_ms);
  const auto one = worker.ok<reply::Run>(run("good", 1));
  EXPECT_EQ(one.hashes, (std::vector<std::string>{first.hash, ""}));
}

// One launch in seven computes, for either set: what the turn leaves behind is right.
TEST(ServeTiming, LooksIntoSamplesAtRandomForLaunchesThatComputeNothing) {
  Worker worker;
  worker.ok<reply::Prepare>(two_sets(small()));
  for (const int set : {0, 1}) worker.ok<reply::Output>(output("skips", "", set));
  const Reply reply = worker.ask(run("skips", 300));
  EXPECT_EQ(reply.status, Status::failed);
  EXPECT_EQ(reply.reason, "a timed launch left its outputs as they were before it");
  EXPECT_EQ(worker.ok<reply::Run>(run("good", 300)).samples.size(), 300u);
}

TEST(ServeTiming, HashesEverySampleThatItLooksInto) {
  Worker worker;
  worker.ok<reply::Prepare>(two_sets(small()));
  std::vector<std::string> judged;
  for (const int set : {0, 1})
    judged.push_back(worker.ok<reply::Output>(output("slips", "", set)).hash);
  EXPECT_NE(worker.ok<reply::Run>(run("slips", 100)).hashes, judged);
  EXPECT_EQ(worker.ok<reply::Run>(run("slips", 100)).hashes, judged);
}

// Two samples may be one batch, of which the last one's set is looked into.
TEST(ServeTiming, HashesEachSetThatATurnRan) {
  Worker worker;
  worker.ok<reply::Prepare>(two_sets(small()));
  for (int turn = 0; turn < 20; ++turn)
    for (const std::string& hash : worker.ok<reply::Run>(run("good", 2)).hashes)
      EXPECT_EQ(hash.size(), 16u);
}

TEST(ServeTiming, TimesForAWhileAndGivesSigns) {
  Worker worker;
  worker.ok<reply::Prepare>(two_sets(small()));
  request::Run request = run("good", 1);
  request.count.reset();
  request.for_ms = 500;
  request.cache = Cache::warm;
  const auto timed = worker.ok<reply::Run>(request);
  EXPECT_GE(timed.samples.size(), 2u);
  EXPECT_GE(timed.wall_ms, 500);
  EXPECT_LT(timed.wall_ms, 5000);
  EXPECT_FALSE(timed.flush_bytes);
  EXPECT_FALSE(worker.signs().empty());
}

}  // namespace
}  // namespace flashbench
