#include "kernels/blocks/divider.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace flashbench::kernels {
namespace {

constexpr std::uint32_t end = 1u << 31;  // of what can be divided

// Around every multiple that lies at an end of the range, where a quotient changes.
TEST(Divider, DividesAsDivisionDoes) {
  for (const std::uint32_t by :
       {1u,   2u,   3u,     5u,     7u,       10u,        16u,        17u,     25u,     48u,
        127u, 641u, 32768u, 65537u, 1000003u, 536870912u, 715827883u, end - 2, end - 1, end}) {
    const Divider divider(by);
    for (std::uint32_t n = 0; n < 3000; ++n)
      for (const std::uint32_t x : {n, end - 1 - n, n * by % end, (n * by - 1) % end,
                                    ((end - 1) / by * by - n % 2) % end, end / 3 * 2 + n})
        ASSERT_EQ(divider.quotient(x), x / by) << x << " / " << by;
  }
}

TEST(Divider, IsOneByItself) {
  EXPECT_EQ(Divider().quotient(end - 1), end - 1);
}

}  // namespace
}  // namespace flashbench::kernels
