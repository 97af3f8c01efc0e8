// flashbench selftest: every planted fault is caught, and by the guard that is there for it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/places.hpp"
#include "support/run_program.hpp"

namespace flashbench::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

TEST(Selftest, CatchesTheThirteenFaultsInUnderAMinute) {
  const Outcome run = flashbench_says({"selftest", "--device", "cpu"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_LT(run.seconds, 60);
  const std::pair<const char*, const char*> guards[] = {
      {"healthy +full +none: passes", ""},
      {"healthy +causal +none: passes", ""},
      {"off-by-one-mask +causal +check of o", ""},
      {"dropped-last-tile +full +check of o", ""},
      {"lost-diagonal +causal +check of o", "s=(5|6|7|8|9|10)"},
      {"wrong-scale +full +check of o", ""},
      {"wrong-log-base +full +check of lse", ""},
      {"swapped-layout +full +check of o", ""},
      {"unwritten-rows +full +check of o", ""},
      {"stale-output +full +repeated run", ""},
      {"skipped-launches +full +timed sample", ""},
      {"cached-output +full +check of o", ""},
      {"one-nan +full +check of o", ""},
      {"out-of-bounds +full +guard band", "past the end of o"},
      {"16-bit-reference +full +check of o", ""}};
  for (const auto& [line, how] : guards)
    EXPECT_THAT(run.out, ContainsRegex(std::string(line) + "[^\n]*" + how));
  EXPECT_THAT(run.out, HasSubstr("all 13 faults were caught"));
}

TEST(Selftest, FailsWhereAFaultIsMissed) {
  // Healthy implementations that pose as faults.
  const Outcome run = flashbench_says(
      {"selftest", "--device", "cpu", "--plugin", in_bin("flashbench-builtin-cpu.so")});
  EXPECT_EQ(run.exit_code, 1) << run.err;
  EXPECT_THAT(run.out, ContainsRegex("v2 +full +MISSED +ok"));
}

TEST(Selftest, FailsWhereNoFaultCouldBeTried) {
  const Outcome run =
      flashbench_says({"selftest", "--device", "cpu", "--plugin", in_bin("flashbench-example.so")});
  EXPECT_EQ(run.exit_code, 1) << run.err;
  EXPECT_THAT(run.out, HasSubstr("not tried, because no mask showed them: example-c"));
}

}  // namespace
}  // namespace flashbench::test
