// What a worker makes of an implementation's own figures, and the pass that it runs for a profiler.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "worker/backend_cpu.hpp"
#include "worker/fakes.hpp"
#include "worker/peer.hpp"
#include "worker/requests.hpp"
#include "worker/serve.hpp"

namespace flashbench::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Notes what it is asked to profile, and how often the work ran.
class Profiled : public CpuBackend {
 public:
  void profile(const std::string& range, const std::function<void()>& call) override {
    ranges.push_back(range);
    CpuBackend::profile(range, call);
  }
  static inline std::vector<std::string> ranges;
};

template <class Backend = CpuBackend>
int serve_fakes(int descriptor) {
  Backend backend;
  return serve(fake_plugin(), {}, backend, descriptor);
}

TEST(Costs, ThatCannotBeAreFailuresWithASentence) {
  Peer worker(serve_fakes<>);
  worker.ok<reply::Hello>(request::Hello{"cpu"});
  worker.ok<reply::Prepare>(two_sets(small()));
  for (const auto& [impl, reason] :
       {std::pair{"negative", "its workspace has -100 bytes"},
        {"not-a-number", "the FLOPs done by its kernel \"fake\" are nan"},
        {"many-kernels", "1000 kernels"}})
    for (const Reply& reply :
         {worker.ask(request::Describe{small(), impl, Pass::fwd}), worker.ask(output(impl, ""))}) {
      EXPECT_EQ(reply.status, Status::failed) << impl;
      EXPECT_THAT(reply.reason, HasSubstr(reason));
    }
  worker.ok<reply::Output>(output("good", ""));
}

TEST(Costs, ComeWithTheRoomThatThereIs) {
  Peer worker(serve_fakes<>);
  const auto described = worker.ok<reply::Describe>(request::Describe{small(), "good", Pass::fwd});
  EXPECT_GT(described.room_bytes.value_or(0), 1 << 20);
  EXPECT_LT(described.room_bytes.value_or(0), CpuBackend().device().memory_bytes);
}

TEST(Profile, RunsThePassOnceUnderItsName) {
  Profiled::ranges.clear();
  Peer worker(serve_fakes<Profiled>);
  worker.ok<reply::Hello>(request::Hello{"cpu"});
  EXPECT_EQ(worker.ask(request::Profile{"good", Pass::fwd, "x"}).status, Status::failed)
      << "nothing is prepared";
  worker.ok<reply::Prepare>(request::Prepare{small(), Pass::fwd, {{1, ""}}});
  const auto profiled = worker.ok<reply::Profile>(request::Profile{"good", Pass::fwd, "good/fwd"});
  ASSERT_EQ(profiled.launches.size(), 1u);
  EXPECT_EQ(profiled.launches[0].kernel, "fake");
  EXPECT_THAT(Profiled::ranges, ElementsAre("good/fwd"));
  const Reply failed = worker.ask(request::Profile{"fails", Pass::fwd, "fails/fwd"});
  EXPECT_EQ(failed.status, Status::failed);
  EXPECT_EQ(failed.reason, "the launch failed");
}

}  // namespace
}  // namespace flashbench::testing
