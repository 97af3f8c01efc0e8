// Fifty runs of a forward leave the same bits, statistics included. Each `output` runs three times
// on poisoned outputs and says whether they were equal.
#include "end_to_end/recipes/worker.hpp"

namespace flashbench::test {
namespace {

class Repeats : public OnDevice,
                public ::testing::WithParamInterface<std::tuple<std::int64_t, std::int64_t, Mask>> {
};

TEST_P(Repeats, OfAForwardAreBitwiseEqual) {
  const auto [length, head_dim, mask] = GetParam();
  TestedWorker worker;
  worker.ok<reply::Prepare>(
      request::Prepare{square(1, length, head_dim, mask), Pass::fwd, {{1, ""}}});
  for (const char* impl : {"naive", "v1", "v2"}) {
    request::Output output;
    output.impl = impl;
    const std::string first = worker.ok<reply::Output>(output).hash;
    for (int runs = 3; runs < 51; runs += 3) {
      const auto again = worker.ok<reply::Output>(output);
      ASSERT_EQ(again.hash, first) << impl << " after " << runs << " runs";
      ASSERT_TRUE(again.repeats_equal.value_or(false)) << impl;
      ASSERT_TRUE(again.guards_intact) << impl << ": " << again.guard_reason;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Recipes, Repeats,
                         ::testing::Combine(::testing::Values(97, 1024), ::testing::Values(64, 128),
                                            ::testing::Values(Mask::full, Mask::causal)),
                         [](const auto& info) {
                           return std::to_string(std::get<0>(info.param)) + "x" +
                                  std::to_string(std::get<1>(info.param)) +
                                  std::string(name(std::get<2>(info.param)));
                         });

}  // namespace
}  // namespace flashbench::test
