#include "kernels/attention_case.hpp"

namespace flashbench::test {
namespace {

class Forward : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Cpu, Forward, testing::Values("naive", "v1", "v2"),
                         [](const auto& param) { return std::string(param.param); });

constexpr FlashbenchDtype kDtypes[] = {FLASHBENCH_FP32, FLASHBENCH_FP16, FLASHBENCH_BF16};
constexpr FlashbenchMask kMasks[] = {FLASHBENCH_FULL, FLASHBENCH_CAUSAL};

void check(const char* name, const Shape& shape, int64_t padding = 0) {
  SCOPED_TRACE(testing::Message() << name << " Sq " << shape.seq_q << " Sk " << shape.seq_k << " d "
                                  << shape.head_dim << " dtype " << shape.dtype << " mask "
                                  << shape.mask << " layout " << shape.layout);
  Case test(shape, padding);
  run(name, test);
  expect_right(name, test);
}

TEST_P(Forward, MatchesTheReferenceOverLengthsMasksAndDtypes) {
  const int64_t lengths[][2] = {{0, 0},  {0, 5},  {1, 0},   {1, 1},   {5, 2},     {2, 5},
                                {1, 63}, {63, 1}, {65, 97}, {97, 65}, {129, 193}, {193, 129}};
  for (const auto& [seq_q, seq_k] : lengths)
    for (const auto dtype : kDtypes)
      for (const auto mask : kMasks) {
        check(GetParam(), {.seq_q = seq_q, .seq_k = seq_k, .dtype = dtype, .mask = mask});
        if (HasFatalFailure()) return;
      }
}

TEST_P(Forward, MatchesTheReferenceOverSeveralTilesOfEitherLength) {
  for (const auto mask : kMasks) {
    check(GetParam(), {.seq_q = 601, .seq_k = 1100, .head_dim = 16, .mask = mask});
    check(GetParam(), {.seq_q = 1100, .seq_k = 601, .head_dim = 16, .mask = mask});
    check(GetParam(),
          {.seq_q = 520, .seq_k = 1030, .head_dim = 8, .dtype = FLASHBENCH_BF16, .mask = mask});
  }
}

TEST_P(Forward, MatchesTheReferenceForEveryHeadDimension) {
  for (const int64_t head_dim : {8, 40, 64, 128, 256})
    for (const auto dtype : kDtypes)
      check(GetParam(), {.seq_q = 65,
                         .seq_k = 97,
                         .head_dim = head_dim,
                         .dtype = dtype,
                         .mask = FLASHBENCH_CAUSAL});
}

TEST_P(Forward, GroupedHeadsReadTheirOwnKvHeadInEitherLayout) {
  for (const auto layout : {FLASHBENCH_BSHD, FLASHBENCH_BHSD})
    for (const auto dtype : kDtypes)
      for (const int64_t padding : {0, 3})
        check(GetParam(),
              {.batch = 2,
               .query_heads = 6,
               .kv_heads = 2,
               .seq_q = 33,
               .seq_k = 47,
               .head_dim = 40,
               .dtype = dtype,
               .mask = FLASHBENCH_CAUSAL,
               .layout = layout},
              padding);
}

TEST_P(Forward, TakesOverlappingAndBackwardStrides) {
  Case test({.seq_q = 9, .seq_k = 7, .head_dim = 16});
  test.k.view.seq = 0;  // every key is the first one
  for (int64_t s = 1; s < 7; ++s)
    for (int64_t x = 0; x < 16; ++x) test.k.set(0, s, 0, x, test.k.get(0, 0, 0, x));
  test.k.view.seq = 0;
  Case straight({.seq_q = 9, .seq_k = 7, .head_dim = 16});
  for (int64_t s = 0; s < 7; ++s)
    for (int64_t x = 0; x < 16; ++x) straight.k.set(0, s, 0, x, test.k.get(0, 0, 0, x));
  for (int64_t s = 0; s < 7; ++s)  // V upside down
    for (int64_t x = 0; x < 16; ++x) test.v.set(0, s, 0, x, straight.v.get(0, 6 - s, 0, x));
  test.v.view.data = test.v.at(0, 6, 0, 0);
  test.v.view.seq = -test.v.view.seq;
  run(GetParam(), test);
  run(GetParam(), straight);
  EXPECT_EQ(test.o.bytes, straight.o.bytes);
}

TEST_P(Forward, AcceptsZeroAndNegativeScales) {
  for (const double scale : {0.0, -0.125})
    for (const auto dtype : kDtypes)
      for (const auto mask : kMasks)
        check(GetParam(), {.seq_q = 65, .seq_k = 63, .dtype = dtype, .mask = mask, .scale = scale});
}

TEST_P(Forward, HugeBf16ValuesWithOneKeyGiveThatValueExactly) {
  Case test({.seq_q = 3, .seq_k = 1, .dtype = FLASHBENCH_BF16});
  for (auto* tensor : {&test.q, &test.k, &test.v}) tensor->fill([] { return 133120.0; });
  run(GetParam(), test);
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t x = 0; x < 64; ++x) EXPECT_EQ(test.o.get(0, i, 0, x), 133120.0);
}

TEST_P(Forward, ScoresFarBelowZeroKeepTheirSoftmax) {
  Case test({.seq_q = 40, .seq_k = 70, .mask = FLASHBENCH_CAUSAL, .scale = 1.0});
  // Every partial sum is exact in fp32, so that the softmax is not that of rounded scores.
  test.q.fill([] { return -30.0; });
  test.k.fill([] { return 30.0; });
  for (int64_t key = 0; key < 70; ++key)
    test.k.set(0, key, 0, 0, 30 + static_cast<double>(key % 5) / 32);
  run(GetParam(), test);
  EXPECT_LT(test.lse[0] <= 0 ? test.lse[0] : test.m[0], -5e4f);
  expect_right(GetParam(), test);
}

TEST_P(Forward, Fp16ScoresBeyondThe16BitRangeDoNotOverflow) {
  Case test({.seq_q = 20, .seq_k = 20, .dtype = FLASHBENCH_FP16, .scale = 1.0});
  for (auto* tensor : {&test.q, &test.k}) tensor->fill([] { return 40.0; });
  run(GetParam(), test);
  expect_right(GetParam(), test);
}

TEST_P(Forward, Fp16SubnormalValuesSurvive) {
  Case test({.seq_q = 5, .seq_k = 1, .head_dim = 24, .dtype = FLASHBENCH_FP16});
  test.v.fill([step = 0]() mutable { return std::ldexp(++step, -24); });
  run(GetParam(), test);
  for (int64_t x = 0; x < 24; ++x)
    EXPECT_EQ(test.o.get(0, 4, 0, x), std::ldexp(static_cast<double>(x + 1), -24));
}

TEST_P(Forward, ARisingMaximumAcrossTilesNeverMakesAPositiveExponent) {
  Case test({.seq_q = 7, .seq_k = 1600, .head_dim = 8, .scale = 1.0});
  test.q.fill([] { return 1.0; });
  test.k.fill([step = 0]() mutable { return 0.02 * static_cast<double>(step++ / 8); });
  run(GetParam(), test);
  expect_right(GetParam(), test);
}

TEST_P(Forward, QueriesThatSeeNoKeyGiveZeroAndMinusInfinity) {
  for (const int64_t seq_k : {0, 3}) {
    Case test({.seq_q = 12, .seq_k = seq_k, .mask = FLASHBENCH_CAUSAL});
    test.v.fill([] { return std::nan(""); });
    run(GetParam(), test);
    const bool lse = cost_of(GetParam(), test.shape).saves == FLASHBENCH_SAVES_LSE;
    for (int64_t i = 0; i < 12 - seq_k; ++i) {
      const auto at = static_cast<size_t>(i);
      EXPECT_EQ(lse ? test.lse[at] : test.m[at], -kInfinity);
      EXPECT_EQ(lse ? 0.0f : test.l[at], 0.0f);
      for (int64_t x = 0; x < 64; ++x) EXPECT_EQ(test.o.get(0, i, 0, x), 0.0);
    }
  }
}

TEST_P(Forward, ANanInVStaysInItsColumnAndHead) {
  for (const auto dtype : kDtypes) {
    const Shape shape = {.query_heads = 4,
                         .kv_heads = 2,
                         .seq_q = 70,
                         .seq_k = 70,
                         .head_dim = 16,
                         .dtype = dtype,
                         .mask = FLASHBENCH_CAUSAL};
    Case clean(shape), test(shape);
    test.v.set(0, 30, 1, 5, std::nan(""));
    run(GetParam(), clean);
    run(GetParam(), test);
    for (int64_t h = 0; h < 4; ++h)
      for (int64_t i = 0; i < 70; ++i)
        for (int64_t x = 0; x < 16; ++x) {
          const double o = test.o.get(0, i, h, x);
          if (h < 2 || x != 5) {
            ASSERT_EQ(o, clean.o.get(0, i, h, x)) << h << " " << i << " " << x;
          } else if (i >= 30) {
            ASSERT_TRUE(std::isnan(o)) << h << " " << i;
          }
        }
  }
}

TEST_P(Forward, ANanInAQueryFillsThatRowOnly) {
  Case test({.seq_q = 20, .seq_k = 40, .head_dim = 16});
  test.q.set(0, 3, 0, 2, std::nan(""));
  run(GetParam(), test);
  for (int64_t i = 0; i < 20; ++i)
    for (int64_t x = 0; x < 16; ++x) EXPECT_EQ(std::isnan(test.o.get(0, i, 0, x)), i == 3);
}

TEST_P(Forward, RepeatedRunsAreBitwiseEqual) {
  const Shape shape = {
      .query_heads = 3, .kv_heads = 1, .seq_q = 700, .seq_k = 700, .mask = FLASHBENCH_CAUSAL};
  Case first(shape), second(shape);
  run(GetParam(), first);
  for (int repeat = 0; repeat < 5; ++repeat) {
    run(GetParam(), second);
    ASSERT_EQ(first.o.bytes, second.o.bytes);
    const size_t bytes = first.lse.size() * sizeof(float);
    ASSERT_EQ(std::memcmp(first.lse.data(), second.lse.data(), bytes), 0);
    ASSERT_EQ(std::memcmp(first.m.data(), second.m.data(), bytes), 0);
  }
}

TEST_P(Forward, GivesTheSameOutputWhenNoStatisticsAreAskedFor) {
  const Shape shape = {.seq_q = 300, .seq_k = 1100, .head_dim = 16, .dtype = FLASHBENCH_BF16};
  Case with(shape), without(shape);
  run(GetParam(), with);
  run(GetParam(), without, false);
  EXPECT_EQ(with.o.bytes, without.o.bytes);
}

TEST_P(Forward, RefusesHeadDimensionsItDoesNotHaveAndSaysWhich) {
  const FlashbenchDevice device = cpu_device();
  for (const int64_t head_dim : {0, 4, 12, 264}) {
    const FlashbenchProblem problem = problem_of({.head_dim = head_dim});
    FlashbenchMessage message{};
    EXPECT_EQ(implementation(GetParam()).supports(&problem, &device, &message),
              FLASHBENCH_UNSUPPORTED);
    EXPECT_NE(std::string(message.text).find("head_dim"), std::string::npos);
    EXPECT_NE(std::string(message.text).find("multiples of 8"), std::string::npos);
  }
}

}  // namespace
}  // namespace flashbench::test
