// The judge's reference on the GPU against the one in fp64 on the CPU.
#include <gtest/gtest.h>

#include <cmath>

#include "judge/blocks.hpp"
#include "judge/gpu_reference.hpp"
#include "support/temporary_folder.hpp"
#include "worker/npy.hpp"

namespace flashbench::judge {
namespace {

const Tell quiet = [](double, double, const std::string&) {};

Problem problem_of(Dtype dtype, Mask mask, std::int64_t seq_q, std::int64_t seq_k, std::int64_t d) {
  Problem problem;
  problem.batch = 2;
  problem.heads = 4;
  problem.kv_heads = 2;
  problem.seq_q = seq_q;
  problem.seq_k = seq_k;
  problem.head_dim = d;
  problem.dtype = dtype;
  problem.mask = mask;
  problem.scale = 1 / std::sqrt(static_cast<double>(d));
  return problem;
}

// Both infinite or NaN alike, or equal but for the order of fp64 sums.
void expect_same(const std::vector<double>& got, const std::vector<double>& wanted,
                 const char* what) {
  ASSERT_EQ(got.size(), wanted.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(wanted[i])) {
      EXPECT_TRUE(std::isnan(got[i])) << what << " " << i;
    } else if (std::isinf(wanted[i])) {
      EXPECT_EQ(got[i], wanted[i]) << what << " " << i;
    } else {
      ASSERT_NEAR(got[i], wanted[i], 1e-11 * std::max(1.0, std::fabs(wanted[i])))
          << what << " " << i;
    }
  }
}

void expect_same(const BlockReference& got, const BlockReference& wanted) {
  expect_same(got.o, wanted.o, "o");
  expect_same(got.lse, wanted.lse, "lse");
  expect_same(got.top, wanted.top, "top");
  EXPECT_EQ(got.excused, wanted.excused);
}

class GpuReferenceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    gpu_ = gpu_reference(0, &why);
    if (!gpu_) GTEST_SKIP() << "no usable GPU: " << why;
  }
  void compare(const Problem& problem, const InputSet& set) const {
    const Inputs inputs(problem, set, Pass::fwd, quiet);
    const std::vector<Block> blocks = blocks_to_compare(problem, 1);
    for (const BlockRun& run : runs_of(blocks, 8)) {
      const auto some = std::span(blocks).subspan(run.first, run.count);
      const auto wanted = cpu_reference()->forward(inputs, some);
      const auto got = gpu_->forward(inputs, some);
      ASSERT_EQ(got.size(), wanted.size());
      for (std::size_t i = 0; i < got.size(); ++i) expect_same(got[i], wanted[i]);
    }
  }
  std::unique_ptr<Reference> gpu_;
};

TEST_F(GpuReferenceTest, AgreesWithTheCpusAtEveryDtypeAndMask) {
  for (const Dtype dtype : {Dtype::fp16, Dtype::bf16, Dtype::fp32})
    for (const Mask mask : {Mask::full, Mask::causal})
      for (const std::int64_t d : {std::int64_t{40}, std::int64_t{63}, std::int64_t{128}})
        compare(problem_of(dtype, mask, 97, 130, d), {1, ""});
}

TEST_F(GpuReferenceTest, AgreesWhereQueriesSeeNoKeyAndWhereThereIsNone) {
  compare(problem_of(Dtype::fp16, Mask::causal, 200, 70, 64), {2, ""});
  compare(problem_of(Dtype::fp16, Mask::causal, 5, 0, 64), {2, ""});
  compare(problem_of(Dtype::fp16, Mask::full, 5, 0, 64), {2, ""});
}

TEST_F(GpuReferenceTest, AgreesAtAnyScale) {
  for (const double scale : {0.0, -0.125, 3.0}) {
    Problem problem = problem_of(Dtype::bf16, Mask::causal, 65, 65, 64);
    problem.scale = scale;
    compare(problem, {3, ""});
  }
}

// Sums in another order move an error by a fraction of a unit, not more.
TEST_F(GpuReferenceTest, DrawsTheComparatorLikeTheCpu) {
  for (const Dtype dtype : {Dtype::fp16, Dtype::bf16})
    for (const std::int64_t rows : {1, 9, 200})
      for (const bool rounded_scores : {false, true}) {
        const Problem problem = problem_of(dtype, Mask::causal, rows, 200, 64);
        const Inputs inputs(problem, {4, ""}, Pass::fwd, quiet);
        const std::vector<Block> all = blocks_to_compare(problem, 1);
        const auto blocks = std::span(all).first(runs_of(all, 8).front().count);
        auto wanted = cpu_reference()->forward(inputs, blocks);
        auto got = gpu_->forward(inputs, blocks);
        cpu_reference()->draw(inputs, blocks, wanted, rounded_scores);
        gpu_->draw(inputs, blocks, got, rounded_scores);
        for (std::size_t i = 0; i < got.size(); ++i) {
          const double error =
              rounded_scores ? *got[i].rounded_scores_error : got[i].comparator_error;
          const double other =
              rounded_scores ? *wanted[i].rounded_scores_error : wanted[i].comparator_error;
          EXPECT_GT(other, 0);
          EXPECT_NEAR(error, other, 0.3 * other) << rows << " rows, block " << i;
        }
      }
}

TEST_F(GpuReferenceTest, PutsANanOfVWhereTheCpuPutsIt) {
  Problem problem = problem_of(Dtype::fp16, Mask::causal, 70, 70, 64);
  problem.init = Init::loaded;
  const test::TemporaryFolder folder;
  const auto write = [&](const char* name, std::int64_t heads, bool wild) {
    std::vector<float> values(static_cast<std::size_t>(2 * 70 * heads * 64));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(std::sin(static_cast<double>(i)));
    if (wild) values[static_cast<std::size_t>((5 * heads + 1) * 64 + 3)] = std::nanf("");
    write_npy(folder / (std::string(name) + ".npy"), {2, 70, heads, 64}, NpyType::f4,
              values.data());
  };
  write("q", 4, false);
  write("k", 2, false);
  write("v", 2, true);
  compare(problem, {1, folder.path().string()});
}

}  // namespace
}  // namespace flashbench::judge
