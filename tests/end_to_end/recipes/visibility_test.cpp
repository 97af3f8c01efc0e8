// Which keys a query sees, and that no other has a say.
#include "end_to_end/recipes/recipe.hpp"

namespace flashbench::test {
namespace {

class Visibility : public OnDevice {};

TEST_F(Visibility, RowsThatSeeNoKeyAreZeroWithLseMinusInfinity) {
  const Recipe recipe{tensor(1, 5, 1, 64, constant(0)),
                      tensor(1, 2, 1, 64, constant(1)),
                      tensor(1, 2, 1, 64, [](auto, auto s, auto, auto) { return 1.0 + 2 * s; }),
                      {"--causal"}};
  const double rows[] = {0, 0, 0, 1, 2};
  const double lse[] = {-infinity, -infinity, -infinity, 0, std::log(2.0)};
  for (const std::string& dtype : tested_dtypes())
    for (const Result& result : recipe.run(dtype))
      for (int s = 0; s < 5; ++s) {
        expect_row(result, 0, s, 0, rows[s], s < 3 ? 0 : tolerance(dtype));
        expect_lse(result, 0, 0, s, lse[s], 1e-6);
      }
}

TEST_F(Visibility, NoKeysAtAllGivesZerosWithLseMinusInfinity) {
  for (const std::string& dtype : tested_dtypes())
    for (const char* mask : {"full", "causal"}) {
      const Checked run({"--batch", "2", "--heads", "3", "--seq", "5", "--seq-k", "0", "--head-dim",
                         "64", "--mask", mask},
                        dtype);
      for (const Result& result : run) {
        ASSERT_EQ(result.o.values.size(), 2u * 5 * 3 * 64) << result.impl;
        ASSERT_EQ(result.lse.values.size(), 2u * 3 * 5) << result.impl;
        for (const double value : result.o.values) ASSERT_EQ(value, 0) << result.impl;
        for (const double value : result.lse.values) ASSERT_EQ(value, -infinity) << result.impl;
      }
    }
}

TEST_F(Visibility, NoQueriesAtAllIsNoFault) {
  for (const std::string& dtype : tested_dtypes()) {
    const Checked run({"--heads", "2", "--seq", "0", "--seq-k", "70", "--head-dim", "64"}, dtype);
    for (const Result& result : run) EXPECT_TRUE(result.o.values.empty()) << result.impl;
  }
}

// What lies behind the last key is NaN in every run. Here the same keys are followed by zeros that
// the mask hides; the outputs must agree.
TEST_F(Visibility, MemoryBehindTheLastKeyIsNeverSeen) {
  const std::int64_t keys = 65, more = 128;
  const auto then_zeros = [&](std::uint64_t seed) -> Element {
    return [=, values = noise(seed)](auto b, auto s, auto h, auto x) {
      return s < keys ? values(b, s, h, x) : 0.0;
    };
  };
  const Recipe ends{tensor(1, keys, 2, 64, noise(1)),
                    tensor(1, keys, 2, 64, noise(2)),
                    tensor(1, keys, 2, 64, noise(3)),
                    {"--causal"}};
  const Recipe goes_on{tensor(1, keys + more, 2, 64, noise(1)),
                       tensor(1, keys + more, 2, 64, then_zeros(2)),
                       tensor(1, keys + more, 2, 64, then_zeros(3)),
                       {"--causal"}};
  for (const std::string& dtype : tested_dtypes()) {
    const Checked found = ends.run(dtype), right = goes_on.run(dtype);
    ASSERT_EQ(found.results().size(), right.results().size());
    for (std::size_t i = 0; i < found.results().size(); ++i) {
      const Result &one = found.results()[i], &other = right.results()[i];
      for (std::int64_t s = 0; s < keys; ++s)
        for (std::int64_t h = 0; h < 2; ++h)
          for (std::int64_t x = 0; x < 64; ++x)
            ASSERT_NEAR(one.o.at(0, s, h, x), other.o.at(0, s, h, x), 4 * tolerance(dtype))
                << one.impl << " row " << s;
    }
  }
}

TEST_F(Visibility, ANanInOneKeyStaysInItsColumn) {
  Recipe clean{tensor(2, 70, 2, 64, noise(1)),
               tensor(2, 70, 2, 64, noise(2)),
               tensor(2, 70, 2, 64, noise(3)),
               {"--causal"}};
  Recipe dirty = clean;
  const std::int64_t key = 5, column = 3;
  dirty.v.values[static_cast<std::size_t>(key * 2 * 64 + column)] = std::nan("");
  for (const std::string& dtype : tested_dtypes()) {
    const Checked right = clean.run(dtype), found = dirty.run(dtype);
    ASSERT_EQ(found.results().size(), right.results().size());
    for (std::size_t i = 0; i < found.results().size(); ++i)
      for (std::int64_t b = 0; b < 2; ++b)
        for (std::int64_t s = 0; s < 70; ++s)
          for (std::int64_t h = 0; h < 2; ++h)
            for (std::int64_t x = 0; x < 64; ++x) {
              const Result& result = found.results()[i];
              const double value = result.o.at(b, s, h, x);
              const bool in_column = b == 0 && h == 0 && x == column;
              if (in_column && s >= key) {
                ASSERT_TRUE(std::isnan(value)) << result.impl << " row " << s;
              } else if (!in_column || !std::isnan(value)) {
                ASSERT_EQ(value, right.results()[i].o.at(b, s, h, x))
                    << result.impl << " row " << s;
              }
            }
  }
}

}  // namespace
}  // namespace flashbench::test
