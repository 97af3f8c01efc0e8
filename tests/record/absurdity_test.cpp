#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "record/row.hpp"

namespace flashbench {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Cost plain() {
  return {{{"k", Pipe::mma, 1e9, 1e6, {{{"q", 100}}, {{"o", 100}}}}}, 4096, {"lse"}};
}

TEST(Absurdity, IsNotInWhatWorkCosts) {
  EXPECT_EQ(absurdity_of(plain()), "");
  EXPECT_EQ(absurdity_of(Cost{}), "");
  EXPECT_EQ(absurdity_of(Counts{}), "");
}

TEST(Absurdity, OfAWorkspaceIsNamedWithItsBytes) {
  Cost cost = plain();
  for (const std::int64_t bytes : {std::int64_t{-1}, std::numeric_limits<std::int64_t>::max()}) {
    cost.workspace_bytes = bytes;
    EXPECT_THAT(absurdity_of(cost),
                AllOf(HasSubstr("workspace"), HasSubstr(std::to_string(bytes))));
  }
}

TEST(Absurdity, OfAKernelIsNamedWithTheKernel) {
  for (const double absurd : {-1.0, std::nan(""), HUGE_VAL, 1e31}) {
    Cost cost = plain();
    cost.kernels[0].flops = absurd;
    EXPECT_THAT(absurdity_of(cost), AllOf(HasSubstr("FLOPs"), HasSubstr("\"k\"")));
    cost = plain();
    cost.kernels[0].exponentials = absurd;
    EXPECT_THAT(absurdity_of(cost), HasSubstr("exponentials"));
    cost = plain();
    cost.kernels[0].traffic.written["o"] = absurd;
    EXPECT_THAT(absurdity_of(cost), HasSubstr("the bytes of o written"));
  }
}

TEST(Absurdity, OfACountIsNamed) {
  Counts counts;
  counts.merges = -3;
  EXPECT_THAT(absurdity_of(counts), AllOf(HasSubstr("merges"), HasSubstr("-3")));
  counts = {};
  counts.traffic.read["k"] = std::nan("");
  EXPECT_THAT(absurdity_of(counts), HasSubstr("the bytes of k read"));
}

}  // namespace
}  // namespace flashbench
