#include "worker/inputs.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <map>

#include "worker/dtype.hpp"

namespace flashbench {
namespace {

Problem problem_of(Init init, Dtype dtype = Dtype::fp32, Layout layout = Layout::bshd) {
  Problem problem;
  problem.batch = 2;
  problem.heads = 6;
  problem.kv_heads = 3;
  problem.seq_q = 300;
  problem.seq_k = 130;
  problem.head_dim = 64;
  problem.dtype = dtype;
  problem.layout = layout;
  problem.init = init;
  return problem;
}

struct Made {
  std::vector<float> values;  // in logical order
  std::uint64_t fingerprint = 0;
};

Made make(const Problem& problem, std::uint64_t seed, Tensor tensor) {
  const Shape shape = shape_of(problem, tensor);
  Made made;
  made.values.resize(static_cast<std::size_t>(shape.elements()));
  made.fingerprint = make_input(
      problem, {seed, ""}, tensor,
      [&](std::int64_t first, std::int64_t rows, const std::byte* data) {
        for (std::int64_t i = 0; i < rows; ++i)
          widen(problem.dtype, data + i * shape.dim * bytes_of(problem.dtype),
                made.values.data() + logical_row(shape, problem.layout, first + i) * shape.dim,
                shape.dim);
      });
  return made;
}

// Any change here makes old reports incomparable: raise measurement_method with it.
TEST(Inputs, HaveTheSameBitsForEver) {
  const std::map<std::pair<Init, Dtype>, std::uint64_t> golden{
      {{Init::normal, Dtype::fp32}, 0x30ba34538c43c8e1},
      {{Init::normal, Dtype::fp16}, 0xc1c5fc6e385f2a22},
      {{Init::normal, Dtype::bf16}, 0x276bbed6e17a7bc7},
      {{Init::uniform, Dtype::fp32}, 0x1c6352366cdd23df},
      {{Init::uniform, Dtype::fp16}, 0x70cf32941378bd23},
      {{Init::uniform, Dtype::bf16}, 0x6516c3a4b647c7f0},
      {{Init::outlier, Dtype::fp32}, 0x00681ab986a6d2c2},
      {{Init::outlier, Dtype::fp16}, 0x3e19704ac65b24df},
      {{Init::outlier, Dtype::bf16}, 0x23fcfa21bcf00269},
      {{Init::constant, Dtype::fp16}, 0x995a77f5af8c51c5},
      {{Init::zeros, Dtype::fp16}, 0xea461ff25dea42d9}};
  for (const auto& [what, fingerprint] : golden)
    EXPECT_EQ(make(problem_of(what.first, what.second), 1, Tensor::q).fingerprint, fingerprint)
        << name(what.first) << " " << name(what.second);
}

TEST(Inputs, DependOnTheLogicalIndexAlone) {
  for (const Tensor tensor : {Tensor::q, Tensor::k}) {
    const Made a = make(problem_of(Init::normal, Dtype::fp16, Layout::bshd), 7, tensor);
    const Made b = make(problem_of(Init::normal, Dtype::fp16, Layout::bhsd), 7, tensor);
    EXPECT_EQ(a.values, b.values);
    EXPECT_EQ(a.fingerprint, b.fingerprint);
  }
}

TEST(Inputs, DifferBySeedAndTensor) {
  Problem square = problem_of(Init::normal);
  square.kv_heads = square.heads;
  square.seq_k = square.seq_q;
  const Made q = make(square, 1, Tensor::q);
  EXPECT_NE(q.values, make(square, 2, Tensor::q).values);
  EXPECT_NE(q.values, make(square, 1, Tensor::k).values);
  EXPECT_NE(make(square, 1, Tensor::k).values, make(square, 1, Tensor::v).values);
}

TEST(Inputs, AreNormalWithFullMantissas) {
  const Made made = make(problem_of(Init::normal), 3, Tensor::q);
  double mean = 0, square = 0, fourth = 0;
  std::int64_t odd = 0;
  for (const float x : made.values) {
    mean += x;
    square += double{x} * x;
    fourth += double{x} * x * x * x;
    odd += std::bit_cast<std::uint32_t>(x) & 1;
  }
  const auto n = static_cast<double>(made.values.size());
  EXPECT_NEAR(mean / n, 0, 0.01);
  EXPECT_NEAR(square / n, 1, 0.01);
  EXPECT_NEAR(fourth / n, 3, 0.1);
  EXPECT_NEAR(static_cast<double>(odd) / n, 0.5, 0.01);
}

TEST(Inputs, HaveOutliersOfStandardDeviationTen) {
  Problem problem = problem_of(Init::outlier);
  problem.seq_q = 5000;
  const Made made = make(problem, 3, Tensor::q);
  double square = 0, beyond = 0;
  for (const float x : made.values) {
    square += double{x} * x;
    beyond += std::fabs(x) > 7 ? 1 : 0;
  }
  const auto n = static_cast<double>(made.values.size());
  EXPECT_NEAR(square / n, 1.1, 0.02);
  EXPECT_NEAR(beyond / n, 0.001 * 0.486, 0.0001);
}

TEST(Inputs, AreUniformConstantOrZero) {
  for (const float x : make(problem_of(Init::uniform), 1, Tensor::q).values) {
    ASSERT_GE(x, -1);
    ASSERT_LT(x, 1);
  }
  for (const float x : make(problem_of(Init::constant), 1, Tensor::q).values) ASSERT_EQ(x, 1);
  for (const float x : make(problem_of(Init::zeros), 1, Tensor::q).values) ASSERT_EQ(x, 0);
}

TEST(Dtype, RoundsToNearestEven) {
  EXPECT_EQ(to_half(1.0f), 0x3c00);
  EXPECT_EQ(to_half(65504.0f), 0x7bff);
  EXPECT_EQ(to_half(65519.0f), 0x7bff);
  EXPECT_EQ(to_half(65520.0f), 0x7c00);
  EXPECT_EQ(to_half(1.0f + 0x1p-11f), 0x3c00);
  EXPECT_EQ(to_half(1.0f + 3 * 0x1p-11f), 0x3c02);
  EXPECT_EQ(to_half(0x1p-24f), 1);
  EXPECT_EQ(to_half(0x1p-25f), 0);
  EXPECT_EQ(to_half(0x1.8p-25f), 1);
  EXPECT_EQ(to_bfloat(1.0f + 0x1p-8f), 0x3f80);
  EXPECT_TRUE(std::isnan(from_half(to_half(NAN))));
  EXPECT_TRUE(std::isnan(from_bfloat(to_bfloat(std::bit_cast<float>(0x7f800001u)))));
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    if (!std::isnan(from_half(half))) {
      ASSERT_EQ(to_half(from_half(half)), half);
    }
    if (!std::isnan(from_bfloat(half))) {
      ASSERT_EQ(to_bfloat(from_bfloat(half)), half);
    }
  }
}

}  // namespace
}  // namespace flashbench
