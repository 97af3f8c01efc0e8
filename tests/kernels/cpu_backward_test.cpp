#include "kernels/gradient_case.hpp"

namespace flashbench::test {
namespace {

class Backward : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Cpu, Backward, testing::Values("naive", "v1", "v2"),
                         [](const auto& param) { return std::string(param.param); });

constexpr FlashbenchDtype kDtypes[] = {FLASHBENCH_FP32, FLASHBENCH_FP16, FLASHBENCH_BF16};
constexpr FlashbenchMask kMasks[] = {FLASHBENCH_FULL, FLASHBENCH_CAUSAL};

void check(const char* name, const Shape& shape, int64_t padding = 0) {
  SCOPED_TRACE(testing::Message() << name << " Sq " << shape.seq_q << " Sk " << shape.seq_k << " d "
                                  << shape.head_dim << " dtype " << shape.dtype << " mask "
                                  << shape.mask << " layout " << shape.layout);
  GradientCase test(shape, padding);
  run(name, test);
  run_backward(name, test);
  expect_right_gradients(name, test);
}

TEST_P(Backward, MatchesTheReferenceOverLengthsMasksAndDtypes) {
  const int64_t lengths[][2] = {{0, 0},  {0, 5},  {5, 0},   {1, 1},   {5, 2},     {2, 5},
                                {1, 63}, {63, 1}, {65, 97}, {97, 65}, {129, 193}, {193, 129}};
  for (const auto& [seq_q, seq_k] : lengths)
    for (const auto dtype : kDtypes)
      for (const auto mask : kMasks) {
        check(GetParam(),
              {.seq_q = seq_q, .seq_k = seq_k, .head_dim = 24, .dtype = dtype, .mask = mask});
        if (HasFatalFailure()) return;
      }
}

TEST_P(Backward, MatchesTheReferenceOverSeveralTilesOfEitherLength) {
  for (const auto mask : kMasks) {
    check(GetParam(), {.seq_q = 300, .seq_k = 790, .head_dim = 8, .mask = mask});
    check(GetParam(), {.seq_q = 790, .seq_k = 300, .head_dim = 8, .mask = mask});
    check(GetParam(),
          {.seq_q = 520, .seq_k = 530, .head_dim = 8, .dtype = FLASHBENCH_BF16, .mask = mask});
  }
}

TEST_P(Backward, MatchesTheReferenceForHeadDimensionsUpTo256) {
  for (const int64_t head_dim : {8, 64, 128, 256})
    for (const auto dtype : kDtypes)
      check(GetParam(), {.seq_q = 35,
                         .seq_k = 47,
                         .head_dim = head_dim,
                         .dtype = dtype,
                         .mask = FLASHBENCH_CAUSAL});
}

TEST_P(Backward, SumsTheGradientsOfAGroupIntoItsKvHeadInEitherLayout) {
  for (const auto layout : {FLASHBENCH_BSHD, FLASHBENCH_BHSD})
    for (const auto dtype : kDtypes)
      for (const int64_t padding : {0, 3})
        check(GetParam(),
              {.batch = 2,
               .query_heads = 6,
               .kv_heads = 2,
               .seq_q = 33,
               .seq_k = 47,
               .head_dim = 16,
               .dtype = dtype,
               .mask = FLASHBENCH_CAUSAL,
               .layout = layout},
              padding);
}

TEST_P(Backward, WritesGradientsThatLieBackwardInMemory) {
  const Shape shape = {.seq_q = 300, .seq_k = 290, .head_dim = 16};
  GradientCase straight(shape), turned(shape);
  for (Tensor* tensor : {&turned.dq, &turned.dk, &turned.dv}) {
    tensor->view.data = tensor->at(0, tensor->seq - 1, 0, 0);
    tensor->view.seq = -tensor->view.seq;
  }
  for (GradientCase* test : {&straight, &turned}) {
    run(GetParam(), *test);
    run_backward(GetParam(), *test);
  }
  for (int64_t s = 0; s < 300; ++s)
    ASSERT_EQ(straight.dq.get(0, s, 0, 3),
              decode(turned.dq.bytes.data() + ((299 - s) * 16 + 3) * 4, FLASHBENCH_FP32));
  for (int64_t s = 0; s < 290; ++s)
    ASSERT_EQ(straight.dk.get(0, s, 0, 3),
              decode(turned.dk.bytes.data() + ((289 - s) * 16 + 3) * 4, FLASHBENCH_FP32));
}

TEST_P(Backward, AcceptsZeroAndNegativeScales) {
  for (const double scale : {0.0, -0.125})
    for (const auto dtype : kDtypes)
      for (const auto mask : kMasks)
        check(GetParam(), {.seq_q = 65,
                           .seq_k = 63,
                           .head_dim = 16,
                           .dtype = dtype,
                           .mask = mask,
                           .scale = scale});
}

// sum dO O, in fp64, as a function of one element of an input.
double objective(GradientCase& test) {
  double sum = 0;
  for (int64_t h = 0; h < test.shape.query_heads; ++h)
    for (int64_t i = 0; i < test.shape.seq_q; ++i) {
      const ReferenceRow row = reference(test, 0, h, i);
      for (int64_t x = 0; x < test.shape.head_dim; ++x)
        sum += test.d_o.get(0, i, h, x) * row.o[static_cast<size_t>(x)];
    }
  return sum;
}

void expect_slope(GradientCase& test, Tensor& input, Tensor& gradient, int64_t head,
                  const char* what) {
  for (int64_t s = 0; s < input.seq; ++s)
    for (const int64_t x : {0, 5}) {
      const double before = input.get(0, s, head, x), step = 1.0 / 256;
      input.set(0, s, head, x, before + step);
      const double high_input = input.get(0, s, head, x), high = objective(test);
      input.set(0, s, head, x, before - step);
      const double low_input = input.get(0, s, head, x), low = objective(test);
      input.set(0, s, head, x, before);
      ASSERT_NEAR(gradient.get(0, s, head, x), (high - low) / (high_input - low_input), 2e-4)
          << what << " row " << s;
    }
}

TEST_P(Backward, IsTheSlopeOfTheForwardByFiniteDifferences) {
  for (const auto mask : kMasks) {
    GradientCase test({.query_heads = 2,
                       .kv_heads = 1,
                       .seq_q = 9,
                       .seq_k = 11,
                       .head_dim = 8,
                       .mask = mask,
                       .scale = 0.35});
    run(GetParam(), test);
    run_backward(GetParam(), test);
    for (const int64_t head : {0, 1}) expect_slope(test, test.q, test.dq, head, "dq");
    expect_slope(test, test.k, test.dk, 0, "dk");
    expect_slope(test, test.v, test.dv, 0, "dv");
  }
}

TEST_P(Backward, OfOneQueryAndOneKeyGivesDvEqualToDoAndNoOtherGradient) {
  for (const int64_t head_dim : {64, 128})
    for (const auto mask : kMasks)
      for (const auto dtype : kDtypes) {
        GradientCase test({.batch = 1000, .head_dim = head_dim, .dtype = dtype, .mask = mask});
        for (auto* tensor : {&test.q, &test.k, &test.v})
          tensor->fill([noise = Noise(static_cast<uint64_t>(tensor->bytes.size()) + 7)]() mutable {
            return 3 * noise();
          });
        test.d_o.fill([] { return 1.0; });
        run(GetParam(), test);
        run_backward(GetParam(), test);
        EXPECT_EQ(test.o.bytes, test.v.bytes);
        EXPECT_EQ(test.dv.bytes, test.d_o.bytes);
        for (int64_t b = 0; b < 1000; ++b)
          for (int64_t x = 0; x < head_dim; ++x) {
            ASSERT_LE(std::abs(test.dq.get(b, 0, 0, x)), 1e-3);
            ASSERT_LE(std::abs(test.dk.get(b, 0, 0, x)), 1e-3);
          }
      }
}

TEST_P(Backward, OfTensOfThousandsOfBatchesOrHeadsGivesItsConstantEverywhere) {
  const int64_t sizes[][2] = {{65536, 1}, {1024, 64}, {1, 65536}};
  for (const auto& [batch, heads] : sizes) {
    GradientCase test({.batch = batch,
                       .query_heads = heads,
                       .kv_heads = heads,
                       .seq_q = 4,
                       .seq_k = 4,
                       .head_dim = 8});
    test.k.fill([] { return 0.0; });
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t h = 0; h < heads; ++h)
        for (int64_t at = 0; at < 32; ++at)
          test.v.set(b, at / 8, h, at % 8, static_cast<double>((b * heads + h) % 7 + 1));
    test.d_o.fill([] { return 1.0; });
    run(GetParam(), test);
    run_backward(GetParam(), test);
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t h = 0; h < heads; ++h)
        for (int64_t s = 0; s < 4; ++s) {
          ASSERT_NEAR(test.o.get(b, s, h, 7), static_cast<double>((b * heads + h) % 7 + 1), 1e-5);
          ASSERT_NEAR(test.dv.get(b, s, h, 7), 1, 1e-6);
          ASSERT_NEAR(test.dq.get(b, s, h, 7), 0, 1e-6);
          ASSERT_NEAR(test.dk.get(b, s, h, 7), 0, 1e-5);
        }
  }
}

TEST_P(Backward, QueriesThatSeeNoKeyHaveNoGradientWhateverIsThere) {
  for (const auto dtype : kDtypes)
    for (const int64_t seq_k : {0, 3}) {
      GradientCase test({.seq_q = 300, .seq_k = seq_k, .dtype = dtype, .mask = FLASHBENCH_CAUSAL});
      if (seq_k > 0) test.k.set(0, 2, 0, 1, std::nan(""));
      run(GetParam(), test);
      run_backward(GetParam(), test);
      for (int64_t i = 0; i < 300 - seq_k; ++i)
        for (int64_t x = 0; x < 64; ++x) ASSERT_EQ(test.dq.get(0, i, 0, x), 0.0) << i;
    }
}

TEST_P(Backward, HugeScoresNeverMakeAProbabilityAboveOne) {
  GradientCase test({.seq_q = 3, .seq_k = 1, .dtype = FLASHBENCH_BF16});
  for (auto* tensor : {&test.q, &test.k, &test.v}) tensor->fill([] { return 133120.0; });
  test.d_o.fill([] { return 1.0; });
  run(GetParam(), test);
  for (auto* statistic : {&test.lse, &test.m})  // a score later found larger by its last place
    for (float& value : *statistic) value = std::nextafter(value, 0.0f);
  run_backward(GetParam(), test);
  for (int64_t x = 0; x < 64; ++x) EXPECT_EQ(test.dv.get(0, 0, 0, x), 3.0);
}

TEST_P(Backward, DoesNotGrowWithRepeats) {
  const Shape shape = {.seq_q = 300, .seq_k = 600, .head_dim = 8, .dtype = FLASHBENCH_FP16};
  GradientCase once(shape), often(shape);
  for (auto* test : {&once, &often}) run(GetParam(), *test);
  run_backward(GetParam(), once);
  run_backward(GetParam(), often, Statistics::own, 100);
  EXPECT_EQ(once.gradients(), often.gradients());
  expect_right_gradients(GetParam(), often);
}

TEST_P(Backward, IsBitwiseTheSameInEveryRunAndOnAnyNumberOfThreads) {
  for (const int64_t seq : {1024, 97})
    for (const int64_t head_dim : {64, 128})
      for (const auto mask : kMasks) {
        const Shape shape = {.query_heads = 2,
                             .kv_heads = 1,
                             .seq_q = seq,
                             .seq_k = seq,
                             .head_dim = head_dim,
                             .mask = mask};
        GradientCase first(shape), again(shape);
        for (auto* test : {&first, &again}) run(GetParam(), *test);
        run_backward(GetParam(), first);
        for (int threads : {1, 2, 3, 8, 8, 8, 8, 8}) {
          // A core's part of a product depends on their number, and the library may add up the
          // terms of an element in another order for a part of another size.
          if (std::string(GetParam()) == "naive" && threads != 3) continue;
          run_backward(GetParam(), again, Statistics::own, 1, threads);
          ASSERT_EQ(first.gradients(), again.gradients()) << threads << " threads";
        }
      }
}

}  // namespace
}  // namespace flashbench::test
