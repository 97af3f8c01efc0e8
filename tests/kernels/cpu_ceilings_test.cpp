#include <gtest/gtest.h>

#include <set>
#include <string>

#include "kernels/ceilings/ceilings.hpp"

namespace flashbench::test {
namespace {

TEST(Ceilings, OfTheCpuAreAProductExponentialsAndACopyAndRunRepeatedly) {
  FlashbenchDevice device{};
  device.backend = FLASHBENCH_CPU;
  device.multiprocessors = 2;
  std::set<std::string> names;
  for (const kernels::Ceiling& ceiling : kernels::ceilings()) {
    names.insert(ceiling.name);
    void* state = nullptr;
    double work = 0;
    FlashbenchMessage message{};
    ASSERT_EQ(ceiling.create(&device, &state, &work, &message), FLASHBENCH_OK) << message.text;
    EXPECT_GT(work, 0) << ceiling.name;
    for (int repeat = 0; repeat < 2; ++repeat)
      EXPECT_EQ(ceiling.run(state, nullptr, &message), FLASHBENCH_OK) << message.text;
    ceiling.destroy(state);
  }
  EXPECT_EQ(names, (std::set<std::string>{"sgemm", "exp2", "copy"}));
}

}  // namespace
}  // namespace flashbench::test
