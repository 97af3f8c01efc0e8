// The judge's gradients on the GPU against those on the CPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "judge/gpu_reference.hpp"
#include "judge/gradients.hpp"
#include "support/temporary_folder.hpp"
#include "worker/npy.hpp"
#include "worker/parallel.hpp"

namespace flashbench::judge {
namespace {

const Tell quiet = [](double, double, const std::string&) {};

Problem problem_of(Dtype dtype, Mask mask, std::int64_t seq_q, std::int64_t seq_k, std::int64_t d) {
  Problem problem;
  problem.batch = 2;
  problem.heads = 6;
  problem.kv_heads = 2;
  problem.seq_q = seq_q;
  problem.seq_k = seq_k;
  problem.head_dim = d;
  problem.dtype = dtype;
  problem.mask = mask;
  problem.scale = 1 / std::sqrt(static_cast<double>(d));
  return problem;
}

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double x : values) most = std::max(most, std::fabs(x));
  return most;
}

void expect_near(const std::vector<double>& got, const std::vector<double>& wanted,
                 const std::string& what) {
  ASSERT_EQ(got.size(), wanted.size()) << what;
  const double size = largest(wanted);
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(wanted[i]))
      ASSERT_TRUE(std::isnan(got[i])) << what << " " << i;
    else
      ASSERT_NEAR(got[i], wanted[i], 1e-10 * size) << what << " " << i;
  }
}

// Root of the mean square; the largest error hangs on how one P happens to be rounded.
double comparator_error(const Gradient& gradient) {
  double sum = 0;
  for (std::size_t i = 0; i < gradient.exact.size(); ++i)
    sum += std::pow(gradient.comparator[i] - gradient.exact[i], 2);
  return std::sqrt(sum / std::max(1.0, static_cast<double>(gradient.exact.size())));
}

void expect_same(const Gradient& got, const Gradient& wanted, Dtype dtype,
                 const std::string& what) {
  expect_near(got.exact, wanted.exact, what);
  expect_near(got.least_error, wanted.least_error, what + "'s least error");
  EXPECT_EQ(got.spreads, wanted.spreads) << what;
  ASSERT_EQ(got.comparator.size(), wanted.comparator.size()) << what;
  const double error = comparator_error(wanted);
  // fp32 errs by its sums alone, whose order is another; in 16 bit they are the least of it.
  const double allowed = dtype == Dtype::fp32 ? 0.6 * error : 0.3 * error + 1e-6;
  EXPECT_NEAR(comparator_error(got), error, allowed) << what;
}

void expect_same(const GroupGradients& got, const GroupGradients& wanted, Dtype dtype,
                 const std::string& what) {
  ASSERT_EQ(got.dq.size(), wanted.dq.size()) << what;
  for (std::size_t h = 0; h < got.dq.size(); ++h)
    expect_same(got.dq[h], wanted.dq[h], dtype, what + ", dq " + std::to_string(h));
  expect_same(got.dk, wanted.dk, dtype, what + ", dk");
  expect_same(got.dv, wanted.dv, dtype, what + ", dv");
}

class GpuGradients : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    gpu_ = gpu_reference(0, &why);
    if (!gpu_) GTEST_SKIP() << "no usable GPU: " << why;
  }
  void compare(const Problem& problem, const InputSet& set, bool rounded_scores = false) const {
    const Inputs inputs(problem, set, Pass::bwd, quiet);
    std::string what = std::string(name(problem.dtype)) + " " + std::to_string(problem.seq_q) +
                       " x " + std::to_string(problem.seq_k);
    what += " x " + std::to_string(problem.head_dim) + (rounded_scores ? ", rounded scores" : "");
    for (const Group& group : groups_to_compare(problem, 1, 1e18))
      expect_same(gpu_->gradients(inputs, group, rounded_scores, [] {}),
                  cpu_gradients(inputs, group, rounded_scores, [] {}), problem.dtype, what);
  }
  std::unique_ptr<Reference> gpu_;
};

TEST_F(GpuGradients, AgreeWithTheCpusAtEveryDtypeAndMask) {
  for (const Dtype dtype : {Dtype::fp16, Dtype::bf16, Dtype::fp32})
    for (const Mask mask : {Mask::full, Mask::causal})
      for (const std::int64_t d : {40, 63, 128})
        for (const bool rounded_scores : {false, true})
          compare(problem_of(dtype, mask, 97, 130, d), {1, ""}, rounded_scores);
}

TEST_F(GpuGradients, AgreeAtTheEdgesOfTiles) {
  for (const std::int64_t rows : {1, 63, 64, 65, 129})
    for (const std::int64_t keys : {1, 16, 64, 257})
      compare(problem_of(Dtype::fp16, Mask::causal, rows, keys, 64), {2, ""});
}

TEST_F(GpuGradients, AgreeWhereQueriesSeeNoKeyAndWhereThereIsNone) {
  compare(problem_of(Dtype::bf16, Mask::causal, 200, 70, 64), {3, ""});
  compare(problem_of(Dtype::bf16, Mask::causal, 5, 0, 64), {3, ""});
  compare(problem_of(Dtype::bf16, Mask::full, 5, 0, 64), {3, ""});
}

TEST_F(GpuGradients, AgreeAtAnyScale) {
  for (const double scale : {0.0, -0.125, 1.5}) {
    Problem problem = problem_of(Dtype::fp16, Mask::causal, 65, 90, 64);
    problem.scale = scale;
    compare(problem, {4, ""});
  }
}

// 33000 keys in a group of 2200 rows: three slices, of which one ends within a head.
TEST_F(GpuGradients, AgreeOverSeveralSlices) {
  Problem problem = problem_of(Dtype::bf16, Mask::causal, 1100, 33000, 16);
  problem.batch = problem.kv_heads = 1;
  problem.heads = 2;
  const Inputs inputs(problem, {5, ""}, Pass::bwd, quiet);
  int slices = 0;
  const GroupGradients got = gpu_->gradients(inputs, {0, 0}, false, [&] { ++slices; });
  EXPECT_EQ(slices, 3);
  expect_same(got, cpu_gradients(inputs, {0, 0}, false, [] {}), problem.dtype, "sliced");
}

TEST_F(GpuGradients, AreTheSameOnManyThreadsAtOnce) {
  const Problem problem = problem_of(Dtype::fp16, Mask::causal, 300, 300, 64);
  const Inputs inputs(problem, {6, ""}, Pass::bwd, quiet);
  const std::vector<Group> groups = groups_to_compare(problem, 1, 1e18);
  std::vector<GroupGradients> alone;
  for (const Group& group : groups) alone.push_back(gpu_->gradients(inputs, group, false, [] {}));
  std::atomic<int> differ = 0;
  parallel_for(64, [&](std::int64_t i) {
    const std::size_t n = static_cast<std::size_t>(i) % groups.size();
    const GroupGradients again = gpu_->gradients(inputs, groups[n], false, [] {});
    // The least errors of dK and dV are sums of atomic additions.
    if (again.dk.exact != alone[n].dk.exact || again.dv.comparator != alone[n].dv.comparator ||
        again.dq[1].exact != alone[n].dq[1].exact ||
        again.dq[1].least_error != alone[n].dq[1].least_error)
      ++differ;
  });
  EXPECT_EQ(differ, 0);
}

TEST_F(GpuGradients, PutANanOfVWhereTheCpuPutsIt) {
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
  write("q", 6, false);
  write("k", 2, false);
  write("v", 2, true);
  write("do", 6, false);
  const Inputs inputs(problem, {1, folder.path().string()}, Pass::bwd, quiet);
  const GroupGradients got = gpu_->gradients(inputs, {0, 1}, false, [] {});
  const GroupGradients wanted = cpu_gradients(inputs, {0, 1}, false, [] {});
  EXPECT_TRUE(got.dk.spreads);
  for (std::size_t i = 0; i < got.dq[0].exact.size(); ++i)
    ASSERT_EQ(std::isnan(got.dq[0].exact[i]), i / 64 >= 5) << i;
  expect_near(got.dv.exact, wanted.dv.exact, "dv");
}

}  // namespace
}  // namespace flashbench::judge
