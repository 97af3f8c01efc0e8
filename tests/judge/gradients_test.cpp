#include "judge/gradients.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "judge/judge.hpp"
#include "worker/peer.hpp"

namespace flashbench::judge {
namespace {

using flashbench::testing::Folder;

const Tell quiet = [](double, double, const std::string&) {};

Problem small(Dtype dtype) {
  Problem problem;
  problem.batch = 2;
  problem.heads = 4;
  problem.kv_heads = 2;
  problem.seq_q = 70;
  problem.seq_k = 90;
  problem.head_dim = 8;
  problem.dtype = dtype;
  problem.mask = Mask::causal;
  problem.scale = 0.3;
  return problem;
}

// sum(dO * O) of one group in fp64, with one input moved: the gradients are its derivatives.
double loss(const Inputs& inputs, const Group& group, Tensor moved, std::int64_t at, double by) {
  const Problem& p = inputs.problem();
  const std::int64_t h0 = first_head(p, group), d = p.head_dim;
  const auto wide = [&](Tensor tensor, std::int64_t head, std::int64_t rows, bool move) {
    const auto narrow = inputs.rows(tensor, group.batch, head, 0, rows);
    std::vector<double> values(narrow.begin(), narrow.end());
    if (move && tensor == moved) values[static_cast<std::size_t>(at)] += by;
    return values;
  };
  const auto k = wide(Tensor::k, group.kv_head, p.seq_k, true);
  const auto v = wide(Tensor::v, group.kv_head, p.seq_k, true);
  double sum = 0;
  for (std::int64_t h = h0; h < h0 + heads_of_group(p); ++h) {
    const auto q = wide(Tensor::q, h, p.seq_q, h == h0);
    const auto d_o = wide(Tensor::d_o, h, p.seq_q, false);
    for (std::int64_t i = 0; i < p.seq_q; ++i) {
      double total = 0, weighted = 0;
      for (std::int64_t j = 0; j <= i + p.seq_k - p.seq_q; ++j) {
        double s = 0, dot = 0;
        for (std::int64_t x = 0; x < d; ++x) {
          s += q[static_cast<std::size_t>(i * d + x)] * k[static_cast<std::size_t>(j * d + x)];
          dot += d_o[static_cast<std::size_t>(i * d + x)] * v[static_cast<std::size_t>(j * d + x)];
        }
        const double weight = std::exp(p.scale * s);
        total += weight;
        weighted += weight * dot;
      }
      sum += weighted / total;
    }
  }
  return sum;
}

TEST(Gradients, AreTheDerivativesOfTheForward) {
  const Inputs inputs(small(Dtype::fp32), {1, ""}, Pass::bwd, quiet);
  const Group group{1, 1};
  const GroupGradients made = cpu_gradients(inputs, group, false, [] {});
  constexpr double step = 1e-5;
  for (const std::int64_t at : {0, 101, 555}) {
    const auto slope = [&](Tensor tensor) {
      return (loss(inputs, group, tensor, at, step) - loss(inputs, group, tensor, at, -step)) /
             (2 * step);
    };
    EXPECT_NEAR(made.dq[0].exact[static_cast<std::size_t>(at)], slope(Tensor::q), 1e-7);
    EXPECT_NEAR(made.dk.exact[static_cast<std::size_t>(at)], slope(Tensor::k), 1e-7);
    EXPECT_NEAR(made.dv.exact[static_cast<std::size_t>(at)], slope(Tensor::v), 1e-7);
  }
}

class GradientsInEveryDtype : public ::testing::TestWithParam<Dtype> {};
INSTANTIATE_TEST_SUITE_P(Judge, GradientsInEveryDtype,
                         ::testing::Values(Dtype::fp32, Dtype::fp16, Dtype::bf16));

TEST_P(GradientsInEveryDtype, PassTheComparatorAndFailWhatIsWrong) {
  const Problem problem = small(GetParam());
  const Inputs inputs(problem, {1, ""}, Pass::bwd, quiet);
  const Shape q = shape_of(problem, Tensor::dq), k = shape_of(problem, Tensor::dk);
  std::vector<float> dq(static_cast<std::size_t>(q.elements())),
      dk(static_cast<std::size_t>(k.elements())), dv(dk.size());
  const auto put = [&](const Gradient& from, const Shape& shape, const Group& group,
                       std::int64_t head, std::vector<float>& to) {
    for (std::int64_t i = 0; i < shape.seq * shape.dim; ++i)
      to[static_cast<std::size_t>(((group.batch * shape.seq + i / shape.dim) * shape.heads + head) *
                                      shape.dim +
                                  i % shape.dim)] = from.comparator[static_cast<std::size_t>(i)];
  };
  for (const Group& group : groups_to_compare(problem, 1, 1e18)) {
    const GroupGradients made = cpu_gradients(inputs, group, false, [] {});
    for (std::size_t h = 0; h < made.dq.size(); ++h)
      put(made.dq[h], q, group, first_head(problem, group) + static_cast<std::int64_t>(h), dq);
    put(made.dk, k, group, group.kv_head, dk);
    put(made.dv, k, group, group.kv_head, dv);
  }
  const Folder folder;
  Judge judge(cpu_reference());
  judge.prepare({problem, Pass::bwd, {{1, ""}}}, quiet);
  const auto verdicts = [&] {
    write_npy(folder / "dq.npy", q.list(), NpyType::f4, dq.data());
    write_npy(folder / "dk.npy", k.list(), NpyType::f4, dk.data());
    write_npy(folder / "dv.npy", k.list(), NpyType::f4, dv.data());
    std::vector<Verdict> list;
    for (const auto& check : judge.judge({Pass::bwd, 0, folder.path(), "v2"}, quiet).tensors) {
      EXPECT_EQ(check.rows_checked, check.rows_total);
      list.push_back(check.verdict);
    }
    return list;
  };
  using V = Verdict;
  EXPECT_EQ(verdicts(), (std::vector<Verdict>{V::pass, V::pass, V::pass}));
  dk[17] = NAN;
  EXPECT_EQ(verdicts(), (std::vector<Verdict>{V::pass, V::fail, V::pass}));
  for (float& x : dq) x *= 1.1f;
  EXPECT_EQ(verdicts()[0], V::fail);
}

// Inputs of `small` with one element of one of them replaced.
class Spoilt {
 public:
  Spoilt(Tensor tensor, std::int64_t row, std::int64_t kv_head, float value) {
    Problem p = small(Dtype::fp32);
    const Inputs made(p, {1, ""}, Pass::bwd, quiet);
    p.init = Init::loaded;
    for (const Tensor each : inputs_of(Pass::bwd)) {
      const Shape shape = shape_of(p, each);
      std::vector<float> values(static_cast<std::size_t>(shape.elements()));
      for (std::int64_t b = 0; b < shape.batch; ++b)
        for (std::int64_t h = 0; h < shape.heads; ++h) {
          const auto rows = made.rows(each, b, h, 0, shape.seq);
          for (std::int64_t i = 0; i < shape.seq * shape.dim; ++i)
            values[static_cast<std::size_t>(
                ((b * shape.seq + i / shape.dim) * shape.heads + h) * shape.dim + i % shape.dim)] =
                rows[static_cast<std::size_t>(i)];
        }
      if (each == tensor)
        values[static_cast<std::size_t>((row * shape.heads + kv_head) * shape.dim + 3)] = value;
      write_npy(folder_ / (std::string(tensor_files[static_cast<std::size_t>(each)]) + ".npy"),
                shape.list(), NpyType::f4, values.data());
    }
    inputs = std::make_unique<Inputs>(p, InputSet{1, folder_.path()}, Pass::bwd, quiet);
  }
  std::unique_ptr<Inputs> inputs;

 private:
  Folder folder_;
};

// small(): 70 queries, 90 keys, causal, so query i sees keys 0 ... i + 20.
TEST(Gradients, ANaNInVReachesTheQueriesThatSeeItAndTheKeysThoseSee) {
  const Spoilt spoilt(Tensor::v, 85, 1, NAN);
  const GroupGradients made = cpu_gradients(*spoilt.inputs, {0, 1}, false, [] {});
  for (std::size_t i = 0; i < 70 * 8; ++i)
    EXPECT_EQ(std::isnan(made.dq[0].exact[i]), i / 8 >= 65) << i;
  for (std::size_t i = 0; i < 90 * 8; ++i) {
    EXPECT_TRUE(std::isnan(made.dk.exact[i])) << i;  // the last query sees every key
    EXPECT_FALSE(std::isnan(made.dv.exact[i])) << i;
  }
  EXPECT_TRUE(made.dq[0].spreads && made.dk.spreads);
  EXPECT_FALSE(made.dv.spreads);
  const GroupGradients other = cpu_gradients(*spoilt.inputs, {0, 0}, false, [] {});
  EXPECT_FALSE(other.dq[0].spreads);
  for (const double x : other.dk.exact) EXPECT_TRUE(std::isfinite(x));
}

TEST(Gradients, ANaNInDOReachesOnlyTheKeysThatItsQuerySees) {
  const Spoilt spoilt(Tensor::d_o, 4, 2, NAN);  // query head 2 is the first of KV head 1
  const GroupGradients made = cpu_gradients(*spoilt.inputs, {0, 1}, false, [] {});
  for (std::size_t i = 0; i < 70 * 8; ++i)
    EXPECT_EQ(std::isnan(made.dq[0].exact[i]), i / 8 == 4) << i;
  for (std::size_t i = 0; i < 90 * 8; ++i) {
    EXPECT_EQ(std::isnan(made.dk.exact[i]), i / 8 <= 24) << i;
    EXPECT_EQ(std::isnan(made.dv.exact[i]), i / 8 <= 24 && i % 8 == 3) << i;
  }
}

TEST(Gradients, MayNotBeFiniteOnlyWhereTheReferenceIsNot) {
  const Block block{0, 0, 0, 1};
  const std::vector<double> wanted{1, NAN, 2};
  const std::vector<float> comparator{1, NAN, 2};
  const auto fails = [&](const std::vector<float>& got, bool spreads) {
    const Outcome outcome = compare_gradient("dk", block, wanted.data(), comparator.data(),
                                             got.data(), 3, Dtype::fp32, 0, 1, spreads);
    return outcome.failed_blocks > 0;
  };
  EXPECT_FALSE(fails({1, NAN, 2}, false));
  EXPECT_FALSE(fails({1, INFINITY, 2}, false));
  EXPECT_TRUE(fails({1, 0, 2}, false));  // healed
  EXPECT_TRUE(fails({1, 0, 2}, true));
  EXPECT_TRUE(fails({1, NAN, NAN}, false));
  EXPECT_FALSE(fails({1, NAN, NAN}, true));
  EXPECT_TRUE(fails({1, NAN, 3}, true));
}

TEST(Gradients, MayBeInfiniteWhereTheBoundReachesBeyondWhatTheDtypeHolds) {
  const float comparator = 0;
  const auto fails = [&](double wanted, float got, double least, Dtype dtype) {
    return compare_gradient("dq", {0, 0, 0, 1}, &wanted, &comparator, &got, 1, dtype, least, 1,
                            false)
               .failed_blocks > 0;
  };
  EXPECT_FALSE(fails(0, INFINITY, 3e4, Dtype::fp16));  // 3 times as much is allowed
  EXPECT_FALSE(fails(0, -INFINITY, 3e4, Dtype::fp16));
  EXPECT_TRUE(fails(0, NAN, 3e4, Dtype::fp16));
  EXPECT_TRUE(fails(0, INFINITY, 2e4, Dtype::fp16));
  EXPECT_TRUE(fails(0, INFINITY, 3e4, Dtype::bf16));
  EXPECT_FALSE(fails(0, INFINITY, 1.2e38, Dtype::bf16));
  EXPECT_FALSE(fails(0, INFINITY, 1.2e38, Dtype::fp32));
  EXPECT_TRUE(fails(0, INFINITY, 1e38, Dtype::fp32));
}

// P = exp(S - LSE), and an LSE in fp32 holds nothing of the sum where |S| is above 2^23: P comes
// out as 1 at the most, whatever the scale.
TEST(Gradients, HaveAnErrorOfPThatEndsWherePWouldBeAboveOne) {
  Problem problem = small(Dtype::fp32);
  const auto least = [&](double scale, Init init) {
    problem.scale = scale;
    problem.init = init;
    const Inputs inputs(problem, {1, ""}, Pass::bwd, quiet);
    const Gradient dv = cpu_gradients(inputs, {0, 0}, false, [] {}).dv;
    return *std::ranges::max_element(dv.least_error) / inputs.largest(Tensor::d_o);
  };
  const double queries = 70.0 * 2;  // those that a key may have P = 1 of
  for (const double scale : {1e8, 1e30, -1e30}) {
    EXPECT_LE(least(scale, Init::normal), 1.01 * queries) << scale;
    EXPECT_LE(least(scale, Init::constant), 1.01 * queries) << scale;
    EXPECT_GE(least(scale, Init::constant), 0.99 * queries) << scale;
  }
}

// An unfused backward keeps S and dP in the dtype as well.
TEST(Gradients, HaveAWiderComparatorWhereScoresAreRounded) {
  const Inputs inputs(small(Dtype::bf16), {1, ""}, Pass::bwd, quiet);
  const auto error = [&](bool rounded_scores) {
    const Gradient dk = cpu_gradients(inputs, {0, 0}, rounded_scores, [] {}).dk;
    double most = 0;
    for (std::size_t i = 0; i < dk.exact.size(); ++i)
      most = std::max(most, std::fabs(dk.comparator[i] - dk.exact[i]));
    return most;
  };
  EXPECT_GT(error(true), 1.2 * error(false));
}

TEST(Gradients, SampleGroupsOfLargeProblems) {
  Problem problem = small(Dtype::fp16);
  problem.batch = 10;
  const double all = flops(problem, Pass::fwd_bwd).exact;
  EXPECT_EQ(groups_to_compare(problem, 1, all * 1.01).size(), 20u);
  const auto some = groups_to_compare(problem, 1, all / 4);
  EXPECT_EQ(some.size(), 5u);
  EXPECT_EQ(some.back().batch, 9);
  EXPECT_EQ(groups_to_compare(problem, 1, 1).size(), 1u);
}

}  // namespace
}  // namespace flashbench::judge
