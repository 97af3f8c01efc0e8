// What LSE may be off by where scores are large and their top is small by cancellation.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "judge/judge.hpp"
#include "judge/rule.hpp"
#include "judge/score_errors.hpp"
#include "worker/npy.hpp"
#include "worker/peer.hpp"

namespace flashbench::judge {
namespace {

using flashbench::testing::Folder;

const Tell quiet = [](double, double, const std::string&) {};

// Few keys, so that in some rows all scores are small sums of large products.
Problem few_keys(double scale, Init init = Init::uniform) {
  Problem problem;
  problem.heads = problem.kv_heads = 64;
  problem.seq_q = problem.seq_k = 7;
  problem.head_dim = 64;
  problem.dtype = Dtype::fp32;
  problem.init = init;
  problem.scale = scale;
  return problem;
}

// LSE of each row of a head, summed in fp32 one product after the other.
std::vector<float> lse_in_fp32(const Inputs& inputs, std::int64_t head) {
  const Problem& p = inputs.problem();
  const auto d = static_cast<std::size_t>(p.head_dim);
  const auto q = inputs.rows(Tensor::q, 0, head, 0, p.seq_q);
  const auto k = inputs.rows(Tensor::k, 0, head, 0, p.seq_k);
  std::vector<float> lse;
  for (std::size_t i = 0; i < q.size(); i += d) {
    std::vector<float> scores;
    for (std::size_t j = 0; j < k.size(); j += d) {
      float sum = 0;
      for (std::size_t x = 0; x < d; ++x) sum += q[i + x] * k[j + x];
      scores.push_back(sum * static_cast<float>(p.scale));
    }
    const float top = *std::ranges::max_element(scores);
    float sum = 0;
    for (const float s : scores) sum += std::exp(s - top);
    lse.push_back(top + std::log(sum));
  }
  return lse;
}

Block whole(const Problem& problem, std::int64_t head) {
  return {0, head, 0, problem.seq_q};
}

// The largest error of LSE as a share of its bound, of correct sums in fp32; the same under 1e-5
// alone.
std::pair<double, double> worst(const Inputs& inputs) {
  const Problem& problem = inputs.problem();
  double with = 0, without = 0;
  for (std::int64_t h = 0; h < problem.heads; ++h) {
    const Block block = whole(problem, h);
    const auto lse = lse_in_fp32(inputs, h);
    const auto reference = cpu_reference()->forward(inputs, {{block}}).front();
    const auto ratio = [&](const std::vector<double>& errors) {
      return compare_lse(block, reference, lse.data(), errors, problem.dtype, false).ratio;
    };
    with = std::max(with, ratio(ScoreErrors(inputs, 0, h).of(block)));
    without = std::max(without, ratio(std::vector<double>(lse.size())));
  }
  return {with, without};
}

TEST(LseBound, PassesTopsThatAreSmallByCancellationAtLargeScales) {
  for (const double scale : {1e3, -1e4, 1e6, 1e8}) {
    double condemned = 0;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const auto [with, without] = worst({few_keys(scale), {seed, ""}, Pass::fwd, quiet});
      EXPECT_LE(with, 0.75) << "scale " << scale << ", seed " << seed;
      condemned = std::max(condemned, without);
    }
    EXPECT_GT(condemned, 1) << "by 1e-5 alone, at scale " << scale;
  }
}

TEST(LseBound, IsThatOfTheJudge) {
  const Problem problem = few_keys(1e3);
  InputSet set{1, ""};
  while (set.seed < 100 && worst({problem, set, Pass::fwd, quiet}).second <= 1) ++set.seed;
  const Inputs inputs(problem, set, Pass::fwd, quiet);
  ASSERT_GT(worst(inputs).second, 1);  // by 1e-5 alone
  std::vector<float> o(static_cast<std::size_t>(shape_of(problem, Tensor::o).elements())), lse;
  for (std::int64_t h = 0; h < problem.heads; ++h) {
    const auto head = lse_in_fp32(inputs, h);
    lse.insert(lse.end(), head.begin(), head.end());
  }
  Judge judge(cpu_reference());
  judge.prepare({problem, Pass::fwd, {set}}, quiet);
  const Folder folder;
  write_npy(folder / "o.npy", shape_of(problem, Tensor::o).list(), NpyType::f4, o.data());
  const auto verdict = [&] {
    write_npy(folder / "lse.npy", {1, problem.heads, problem.seq_q}, NpyType::f4, lse.data());
    return judge.judge({Pass::fwd, 0, folder.path(), "v2"}, quiet).tensors[1].verdict;
  };
  EXPECT_EQ(verdict(), Verdict::pass);
  for (float& x : lse) x *= 1.0001f;
  EXPECT_EQ(verdict(), Verdict::fail);
}

TEST(LseBound, IsNotWidenedAtOrdinaryScales) {
  for (const Init init : {Init::normal, Init::uniform, Init::outlier})
    for (const std::int64_t d : {64, 128, 256}) {
      Problem problem = few_keys(1 / std::sqrt(static_cast<double>(d)), init);
      problem.head_dim = d;
      problem.seq_q = problem.seq_k = 64;
      problem.heads = problem.kv_heads = 2;
      const Inputs inputs(problem, {1, ""}, Pass::fwd, quiet);
      const Block block = whole(problem, 1);
      const auto errors = ScoreErrors(inputs, 0, 1).of(block);
      const auto lse = cpu_reference()->forward(inputs, {{block}}).front().lse;
      for (std::size_t i = 0; i < errors.size(); ++i)
        EXPECT_LT(errors[i], 0.5e-5 * std::max(1.0, std::fabs(lse[i]))) << d << ", row " << i;
    }
}

// Rows of one element each: a length is its size.
TEST(LseBound, RestsOnTheLongestKeyThatARowSees) {
  Problem problem = few_keys(-2, Init::loaded);
  problem.heads = problem.kv_heads = problem.head_dim = 1;
  problem.seq_q = 5;  // the first row sees no key
  problem.seq_k = 4;
  problem.mask = Mask::causal;
  const Folder folder;
  const std::vector<float> q{9, 1, 1, 1, 3}, v(4);
  const std::vector<float> k{2, -8, std::numeric_limits<float>::infinity(), 4};
  for (const auto& [file, data] : {std::pair{"q.npy", &q}, {"k.npy", &k}, {"v.npy", &v}})
    write_npy(folder / file, {1, static_cast<std::int64_t>(data->size()), 1, 1}, NpyType::f4,
              data->data());
  const Inputs inputs(problem, {1, folder.path()}, Pass::fwd, quiet);
  const double unit = 2 * 0x1p-23;
  EXPECT_EQ(ScoreErrors(inputs, 0, 0).of(whole(problem, 0)),
            (std::vector<double>{0, 2 * unit, 8 * unit, 8 * unit, 24 * unit}));
}

// Scores that cancel, of long keys or of short ones: only the former may be off by a thousandth.
TEST(LseBound, IsEachKvHeadsOwn) {
  Problem problem = few_keys(1, Init::loaded);
  problem.batch = problem.kv_heads = problem.head_dim = 2;
  problem.heads = 4;
  problem.seq_q = problem.seq_k = 1;
  const Folder folder;
  const float l = 1e4f;
  const std::vector<float> q(16, 1), v(8), o(16), k{1, -1, l, -l, l, -l, 1, -1};  // (B, 1, Hkv, d)
  for (const auto& [file, data] : {std::pair{"q.npy", &q}, {"k.npy", &k}, {"v.npy", &v}})
    write_npy(folder / file, {2, 1, static_cast<std::int64_t>(data->size()) / 4, 2}, NpyType::f4,
              data->data());
  Judge judge(cpu_reference());
  judge.prepare({problem, Pass::fwd, {{1, folder.path()}}}, quiet);
  write_npy(folder / "o.npy", {2, 1, 4, 2}, NpyType::f4, o.data());
  for (std::size_t row = 0; row < 8; ++row) {  // (B, Hq)
    std::vector<float> lse(8);
    lse[row] = 1e-3f;
    write_npy(folder / "lse.npy", {2, 4, 1}, NpyType::f4, lse.data());
    const bool of_long_key = row >= 2 && row < 6;
    EXPECT_EQ(judge.judge({Pass::fwd, 0, folder.path(), "v2"}, quiet).tensors[1].verdict,
              of_long_key ? Verdict::pass : Verdict::fail)
        << row;
  }
}

}  // namespace
}  // namespace flashbench::judge
