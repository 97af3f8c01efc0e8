#include "worker/serve_plugin.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "worker/backend_cpu.hpp"
#include "worker/fakes.hpp"
#include "worker/peer.hpp"

namespace flashbench {
namespace {

using namespace flashbench::testing;
using ::testing::HasSubstr;

TEST(ServePlugin, SaysThatItsRowsAreAPlugins) {
  Peer worker([](int end) {
    CpuBackend backend;
    return serve_plugin(&fake_plugin(), "mine.so", FLASHBENCH_CPU, backend, end);
  });
  const auto hello = worker.ok<reply::Hello>(request::Hello{"cpu"});
  EXPECT_EQ(hello.source, "plugin:mine.so");
  EXPECT_TRUE(hello.ceilings.empty());
  EXPECT_EQ(hello.implementations.size(), fake_plugin().count);
  worker.ok<reply::Bye>(request::Bye{});
  EXPECT_EQ(worker.wait(), 0);
}

TEST(ServePlugin, RefusesATableThatCannotBeServed) {
  EXPECT_EQ(flaw_of(&fake_plugin(), FLASHBENCH_CPU), "");
  EXPECT_THAT(flaw_of(nullptr, FLASHBENCH_CPU), HasSubstr("no table"));
  EXPECT_THAT(flaw_of(&fake_plugin(), FLASHBENCH_CUDA),
              HasSubstr("for the CPU, this worker drives CUDA"));
  FlashbenchPlugin plugin = fake_plugin();
  plugin.abi = FLASHBENCH_ABI + 1;
  EXPECT_THAT(flaw_of(&plugin, FLASHBENCH_CPU), HasSubstr("attention.h"));
  plugin = fake_plugin();
  plugin.count = 0;
  EXPECT_THAT(flaw_of(&plugin, FLASHBENCH_CPU), HasSubstr("no implementation"));
}

TEST(ServePlugin, RefusesAnImplementationThatLacksAFunctionOrAName) {
  FlashbenchImplementation implementation = fake<Fault::none>("mine");
  const FlashbenchPlugin plugin{FLASHBENCH_ABI, FLASHBENCH_CPU, 1, &implementation};
  implementation.passes |= FLASHBENCH_BACKWARD;
  EXPECT_EQ(flaw_of(&plugin, FLASHBENCH_CPU), "mine has no backward");
  implementation = fake<Fault::none>("mine");
  implementation.forward = nullptr;
  EXPECT_EQ(flaw_of(&plugin, FLASHBENCH_CPU), "mine has no forward");
  implementation = fake<Fault::none>(nullptr);
  EXPECT_THAT(flaw_of(&plugin, FLASHBENCH_CPU), HasSubstr("has no name"));
}

}  // namespace
}  // namespace flashbench
