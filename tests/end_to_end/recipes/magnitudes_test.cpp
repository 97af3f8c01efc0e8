// Scores that are very large, very small, all alike, or scaled by an odd factor.
#include "end_to_end/recipes/recipe.hpp"

namespace flashbench::test {
namespace {

class Magnitudes : public OnDevice {};

TEST_F(Magnitudes, ScoresFarBelowZeroDoNotVanish) {
  const Recipe recipe{tensor(1, 96, 1, 128, constant(45)), tensor(1, 96, 1, 128, constant(-45)),
                      tensor(1, 96, 1, 128, constant(1))};
  const double right = -45 * 45 * 128 / std::sqrt(128.0) + std::log(96.0);
  for (const Result& result : recipe.run("bf16"))
    for (int s = 0; s < 96; ++s) {
      expect_row(result, 0, s, 0, 1, tolerance("bf16"));
      expect_lse(result, 0, 0, s, right, lse_tolerance(result.impl, "bf16", right));
    }
}

TEST_F(Magnitudes, OneHugeKeyGivesItsValueBack) {
  const Array huge = tensor(1, 1, 1, 64, constant(133120));
  const double right = 133120.0 * 133120 * 64 / 8;
  for (const Result& result : Recipe{huge, huge, huge}.run("bf16")) {
    expect_row(result, 0, 0, 0, 133120, 0);
    expect_lse(result, 0, 0, 0, right, lse_tolerance(result.impl, "bf16", right));
  }
}

TEST_F(Magnitudes, RawScoresBeyondHalfPrecisionDoNotOverflow) {
  const Array forty = tensor(1, 128, 1, 64, constant(40));
  const Recipe recipe{forty, forty, tensor(1, 128, 1, 64, [](auto, auto s, auto, auto) {
                        return static_cast<double>(s % 2);
                      })};
  const double right = 12800 + std::log(128.0);
  for (const std::string dtype : {"fp16", "bf16"})
    for (const Result& result : recipe.run(dtype))
      for (int s = 0; s < 128; ++s) {
        expect_row(result, 0, s, 0, 0.5, 1e-3);
        expect_lse(result, 0, 0, s, right, lse_tolerance(result.impl, dtype, right));
      }
}

// V[j] = j, so that O tells which keys were weighted, and how.
Recipe numbered_keys(const Arguments& scale) {
  Recipe recipe{
      tensor(1, 16, 1, 64, noise(1)),
      tensor(1, 16, 1, 64, noise(2)),
      tensor(1, 16, 1, 64, [](auto, auto s, auto, auto) { return static_cast<double>(s); }),
      {"--causal"}};
  recipe.more.insert(recipe.more.end(), scale.begin(), scale.end());
  return recipe;
}

TEST_F(Magnitudes, AScaleOfZeroIsTheMeanOfTheVisibleKeys) {
  const Recipe recipe = numbered_keys({"--scale", "0"});
  for (const std::string& dtype : tested_dtypes())
    for (const Result& result : recipe.run(dtype))
      for (int s = 0; s < 16; ++s) {
        expect_row(result, 0, s, 0, s / 2.0, 8 * tolerance(dtype));
        expect_lse(result, 0, 0, s, std::log(s + 1.0), 1e-5);
      }
}

TEST_F(Magnitudes, ANegativeScaleIsTheKeysNegated) {
  const Recipe negative = numbered_keys({"--scale=-0.125"});
  Recipe negated = numbered_keys({"--scale", "0.125"});
  for (double& value : negated.k.values) value = -value;
  for (const std::string& dtype : tested_dtypes()) {
    const Checked found = negative.run(dtype), right = negated.run(dtype);
    ASSERT_EQ(found.results().size(), right.results().size());
    for (std::size_t i = 0; i < found.results().size(); ++i) {
      const Result &one = found.results()[i], &other = right.results()[i];
      for (std::size_t j = 0; j < one.o.values.size(); ++j)
        ASSERT_NEAR(one.o.values[j], other.o.values[j], 8 * tolerance(dtype)) << one.impl;
      for (std::size_t j = 0; j < one.lse.values.size(); ++j)
        ASSERT_NEAR(one.lse.values[j], other.lse.values[j],
                    lse_tolerance(one.impl, dtype, other.lse.values[j]))
            << one.impl;
    }
  }
}

double dot(const Array& q, const Array& k, std::int64_t batch) {
  double sum = 0;
  for (std::int64_t x = 0; x < q.shape[3]; ++x) sum += q.at(batch, 0, 0, x) * k.at(batch, 0, 0, x);
  return sum;
}

// A thousand problems of one query and one key, as one batch.
TEST_F(Magnitudes, OneQueryAndOneKeyGiveThatKeysValueBitByBit) {
  const std::int64_t problems = 1000;
  const auto three_times = [](std::uint64_t seed) -> Element {
    return [values = noise(seed)](auto... place) { return 3 * values(place...); };
  };
  for (const std::int64_t head_dim : {64, 128})
    for (const char* mask : {"full", "causal"})
      for (const std::string& dtype : tested_dtypes()) {
        const Recipe recipe{tensor(problems, 1, 1, head_dim, three_times(1)),
                            tensor(problems, 1, 1, head_dim, three_times(2)),
                            tensor(problems, 1, 1, head_dim, three_times(3)),
                            {"--mask", mask}};
        for (const Result& result : recipe.run(dtype)) {
          ASSERT_EQ(result.o.values, result.tensor("v").values) << result.impl << " " << dtype;
          const Array q = result.tensor("q"), k = result.tensor("k");
          for (std::int64_t b = 0; b < problems; ++b) {
            const double right = dot(q, k, b) / std::sqrt(static_cast<double>(head_dim));
            expect_lse(result, b, 0, 0, right, 1e-4 + lse_tolerance(result.impl, dtype, right));
          }
        }
      }
}

}  // namespace
}  // namespace flashbench::test
