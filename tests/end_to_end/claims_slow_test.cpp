// The whole command, measuring.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/run_program.hpp"
#include "support/text.hpp"

namespace flashbench::test {
namespace {

TEST(Claims, AreMeasuredOnTheCpu) {
  const Outcome run = flashbench_says({"claims", "--device", "cpu", "--json", "-"}, {}, 280);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  int untested = 0;
  const auto report = strict_json(run.out);
  for (const auto& claim : report.at("claims")) {
    const std::string section = claim.at("section"), verdict = claim.at("verdict");
    untested += verdict == "cannot be tested";
    const bool by_the_cpu = section[0] == '7' || claim.at("name") == "memory-growth" ||
                            claim.at("test") == "counted by the CPU's kernels, fp32";
    if (by_the_cpu) {
      EXPECT_NE(verdict, "cannot be tested") << claim;
    }
  }
  EXPECT_GT(untested, 0) << "a CPU has no datasheet peak";
}

}  // namespace
}  // namespace flashbench::test
