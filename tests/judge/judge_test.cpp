#include "judge/judge.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "judge/comparator.hpp"
#include "worker/dtype.hpp"
#include "worker/peer.hpp"

namespace flashbench::judge {
namespace {

using flashbench::testing::Folder;
using ::testing::HasSubstr;

const Tell quiet = [](double, double, const std::string&) {};

// Which keys a row takes into account, and how; the default is right.
struct Way {
  std::function<bool(std::int64_t row, std::int64_t key)> loses = nullptr;
  double scale_factor = 1, lse_factor = 1;
};

struct Result {
  std::vector<float> o, lse;  // (b, s, h, d), (b, h, s)
};

class Court {
 public:
  explicit Court(const Problem& problem, std::uint64_t seed = 1)
      : problem_(problem),
        set_{seed, ""},
        inputs_(problem, set_, Pass::fwd, quiet),
        judge_(cpu_reference()) {
    judge_.prepare({problem, Pass::fwd, {set_}}, quiet);
  }
  Result attend(const Way& way = {}) const {
    Result result{std::vector<float>(static_cast<std::size_t>(shape().elements())),
                  std::vector<float>(static_cast<std::size_t>(shape().rows()))};
    for (std::int64_t b = 0; b < problem_.batch; ++b)
      for (std::int64_t h = 0; h < problem_.heads; ++h) attend_head(way, b, h, result);
    return result;
  }
  // The comparator's O with the LSE of a right computation.
  Result unfused() const {
    Result result = attend();
    const Keys keys(inputs_, 0, 0);
    const auto q = inputs_.rows(Tensor::q, 0, 0, 0, problem_.seq_q);
    result.o = comparator(problem_, keys, q, 0);
    return result;
  }
  std::vector<TensorCheck> verdicts(const Result& result, bool rounded_scores = false) {
    const Folder folder;
    write_npy(folder / "o.npy", shape().list(), NpyType::f4, result.o.data());
    write_npy(folder / "lse.npy", {problem_.batch, problem_.heads, problem_.seq_q}, NpyType::f4,
              result.lse.data());
    return judge_.judge({Pass::fwd, 0, folder.path(), "v2", rounded_scores}, quiet).tensors;
  }
  void passes(const Result& result) {
    for (const TensorCheck& check : verdicts(result))
      EXPECT_EQ(check.verdict, Verdict::pass) << check.reason;
  }
  TensorCheck o_fails(const Result& result) {
    const TensorCheck check = verdicts(result)[0];
    EXPECT_EQ(check.verdict, Verdict::fail);
    EXPECT_FALSE(check.reason.empty());
    return check;
  }
  Shape shape() const { return shape_of(problem_, Tensor::o); }

 private:
  void attend_head(const Way& way, std::int64_t b, std::int64_t h, Result& to) const {
    const std::int64_t kv = inputs_.kv_head(h), d = problem_.head_dim;
    const auto q = inputs_.rows(Tensor::q, b, h, 0, problem_.seq_q);
    const auto k = inputs_.rows(Tensor::k, b, kv, 0, problem_.seq_k);
    const auto v = inputs_.rows(Tensor::v, b, kv, 0, problem_.seq_k);
    const double scale = problem_.scale * way.scale_factor;
    for (std::int64_t i = 0; i < problem_.seq_q; ++i) {
      std::vector<double> o(static_cast<std::size_t>(d));
      double sum = 0;
      for (std::int64_t j = 0; j < visible_keys(problem_, i); ++j) {
        if (way.loses && way.loses(i, j)) continue;
        float dot = 0;
        for (std::int64_t x = 0; x < d; ++x) dot += q[at(i, x)] * k[at(j, x)];
        const double weight = std::exp(scale * dot);
        sum += weight;
        for (std::int64_t x = 0; x < d; ++x) o[at(0, x)] += weight * v[at(j, x)];
      }
      for (std::int64_t x = 0; x < d; ++x)
        to.o[static_cast<std::size_t>(((b * problem_.seq_q + i) * problem_.heads + h) * d + x)] =
            rounded(problem_.dtype, static_cast<float>(sum > 0 ? o[at(0, x)] / sum : 0));
      to.lse[static_cast<std::size_t>((b * problem_.heads + h) * problem_.seq_q + i)] =
          static_cast<float>(std::log(sum) * way.lse_factor);
    }
  }
  std::size_t at(std::int64_t row, std::int64_t x) const {
    return static_cast<std::size_t>(row * problem_.head_dim + x);
  }

  Problem problem_;
  InputSet set_;
  Inputs inputs_;
  Judge judge_;
};

Problem causal(std::int64_t length, Dtype dtype = Dtype::fp16) {
  Problem problem;
  problem.seq_q = problem.seq_k = length;
  problem.head_dim = 64;
  problem.dtype = dtype;
  problem.mask = Mask::causal;
  problem.scale = 0.125;
  return problem;
}

class InEveryDtype : public ::testing::TestWithParam<Dtype> {};
INSTANTIATE_TEST_SUITE_P(Judge, InEveryDtype,
                         ::testing::Values(Dtype::fp32, Dtype::fp16, Dtype::bf16));

TEST_P(InEveryDtype, PassesWhatIsRightWithAnErrorThatIsNotZero) {
  Problem problem = causal(200, GetParam());
  problem.batch = 2;
  problem.heads = 4;
  problem.kv_heads = 2;
  problem.seq_k = 130;
  Court court(problem);
  const auto checks = court.verdicts(court.attend());
  ASSERT_EQ(checks.size(), 2u);
  for (const TensorCheck& check : checks) {
    EXPECT_EQ(check.verdict, Verdict::pass) << check.reason;
    EXPECT_EQ(check.rows_checked, 1600);
    EXPECT_EQ(check.rows_total, 1600);
    EXPECT_GT(check.max_abs.value_or(0), 0);  // a copy rounded to the dtype, too, is off
    EXPECT_LE(check.ratio.value_or(2), 1);
  }
}

TEST_P(InEveryDtype, PassesTheComparatorItself) {
  Court court(causal(500, GetParam()));
  court.passes(court.unfused());
}

TEST_P(InEveryDtype, CatchesACausalMaskThatIsOffByOne) {
  Court court(causal(300, GetParam()));
  court.o_fails(court.attend({.loses = [](auto i, auto j) { return j == i && i > 0; }}));
}

TEST_P(InEveryDtype, CatchesADroppedTile) {
  Court court(causal(1024, GetParam()));
  court.o_fails(court.attend({.loses = [](auto, auto j) { return j >= 512 && j < 576; }}));
}

TEST_P(InEveryDtype, CatchesAnotherScale) {
  Court court(causal(256, GetParam()));
  court.o_fails(court.attend({.scale_factor = 1.1}));
}

TEST(Judge, CatchesADiagonalKeyLostInLateRows) {
  Court court(causal(2048));
  const TensorCheck check =
      court.o_fails(court.attend({.loses = [](auto i, auto j) { return i >= 1024 && j == i; }}));
  EXPECT_GE(check.worst.value()[1], 1024);
}

TEST(Judge, CatchesRowsThatWereNotWritten) {
  Court court(causal(256));
  Result result = court.attend();
  std::fill(result.o.end() - 64, result.o.end(), std::numeric_limits<float>::quiet_NaN());
  const TensorCheck check = court.o_fails(result);
  EXPECT_THAT(check.reason, HasSubstr("is NaN where the reference is "));
  EXPECT_EQ(check.worst.value(), (std::array<std::int64_t, 4>{0, 255, 0, 0}));
}

TEST(Judge, CatchesOneNaN) {
  Court court(causal(256));
  Result result = court.attend();
  result.o[100 * 64 + 7] = -std::numeric_limits<float>::quiet_NaN();
  const TensorCheck check = court.o_fails(result);
  EXPECT_THAT(check.reason, HasSubstr("o at b=0, s=100, h=0, x=7 is NaN where the reference is "));
  EXPECT_EQ(check.worst.value(), (std::array<std::int64_t, 4>{0, 100, 0, 7}));
}

TEST(Judge, CatchesAnLseOfBaseTwo) {
  Court court(causal(256));
  const auto checks = court.verdicts(court.attend({.lse_factor = 1 / std::log(2.0)}));
  EXPECT_EQ(checks[0].verdict, Verdict::pass);
  EXPECT_EQ(checks[1].verdict, Verdict::fail);
  EXPECT_THAT(checks[1].reason, HasSubstr("lse at b=0"));
}

TEST(Judge, AllowsScoresRoundedInMemoryOneUnit) {
  Court court(causal(256));
  Result result = court.attend();
  for (float& x : result.lse) x += 0x1p-10f * std::max(std::fabs(x) / 4, 0.01f);
  EXPECT_EQ(court.verdicts(result, false)[1].verdict, Verdict::fail);
  EXPECT_EQ(court.verdicts(result, true)[1].verdict, Verdict::pass);
  Court wide(causal(256, Dtype::fp32));  // has no narrower scores
  EXPECT_EQ(wide.verdicts(result, true)[1].verdict, Verdict::fail);
}

// cases.md A27: a reference of 16 bits would call its own copy free of error.
TEST_P(InEveryDtype, FindsTheErrorOfItsOwnReferenceRounded) {
  const Problem problem = causal(300, GetParam());
  Court court(problem);
  const Inputs inputs(problem, {1, ""}, Pass::fwd, quiet);
  Result copy{{}, {}};
  const auto blocks = blocks_to_compare(problem, 1);
  for (const BlockReference& block : cpu_reference()->forward(inputs, blocks)) {
    for (const double x : block.o) copy.o.push_back(rounded(GetParam(), static_cast<float>(x)));
    copy.lse.insert(copy.lse.end(), block.lse.begin(), block.lse.end());
  }
  for (const TensorCheck& check : court.verdicts(copy)) {
    EXPECT_EQ(check.verdict, Verdict::pass) << check.reason;
    EXPECT_GT(check.max_abs.value(), 0);
    EXPECT_GT(check.ratio.value(), 0);
  }
}

TEST(Judge, PassesACorrectKernelAtEverySeed) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Court court(causal(130), seed);
    court.passes(court.attend());
  }
}

TEST(Judge, ExpectsZeroAndMinusInfinityWhereNoKeyIsSeen) {
  Problem problem = causal(100);
  problem.seq_k = 30;
  Court court(problem);
  Result result = court.attend();
  EXPECT_EQ(result.o[0], 0);
  EXPECT_EQ(result.lse[0], -std::numeric_limits<float>::infinity());
  court.passes(result);
  result.o[0] = 1e-4f;
  court.o_fails(result);
  problem.seq_k = 0;
  Court empty(problem);
  empty.passes(empty.attend());
  problem.seq_q = 0;
  Court nothing(problem);
  nothing.passes(nothing.attend());
}

// cases.md A10 (b): the NaN may fill its column of that batch and KV head, and nothing else.
TEST(Judge, AllowsNaNOnlyInItsColumn) {
  Problem problem = causal(70, Dtype::fp32);
  problem.init = Init::loaded;
  const Folder folder;
  std::vector<float> q(70 * 64), v(70 * 64);
  for (std::size_t i = 0; i < q.size(); ++i) q[i] = v[i] = static_cast<float>(i % 7) * 0.25f;
  v[5 * 64 + 3] = std::numeric_limits<float>::quiet_NaN();
  for (const auto& [file, data] : {std::pair{"q.npy", &q}, {"k.npy", &q}, {"v.npy", &v}})
    write_npy(folder / file, {1, 70, 1, 64}, NpyType::f4, data->data());
  Judge judge(cpu_reference());
  judge.prepare({problem, Pass::fwd, {{1, folder.path()}}}, quiet);
  const Inputs inputs(problem, {1, folder.path()}, Pass::fwd, quiet);
  const std::vector<Block> blocks{{0, 0, 0, 64}, {0, 0, 64, 6}};
  std::vector<float> o;
  for (const BlockReference& part : cpu_reference()->forward(inputs, blocks))
    o.insert(o.end(), part.o.begin(), part.o.end());
  const auto verdict = [&](const std::vector<float>& got) {
    write_npy(folder / "o.npy", {1, 70, 1, 64}, NpyType::f4, got.data());
    return judge.judge({Pass::fwd, 0, folder.path(), "v2"}, quiet).tensors[0].verdict;
  };
  for (std::size_t i = 0; i < 70; ++i) EXPECT_EQ(std::isnan(o[i * 64 + 3]), i >= 5);
  EXPECT_EQ(verdict(o), Verdict::pass);
  std::vector<float> spread = o, elsewhere = o, healed = o;
  spread[2 * 64 + 3] = NAN;
  EXPECT_EQ(verdict(spread), Verdict::pass);
  elsewhere[9 * 64 + 4] = NAN;
  EXPECT_EQ(verdict(elsewhere), Verdict::fail);
  healed[9 * 64 + 3] = 0;
  EXPECT_EQ(verdict(healed), Verdict::fail);
}

TEST(Judge, SamplesBlocksOfLargeProblemsAndSaysSo) {
  Problem problem = causal(16384);
  problem.heads = problem.kv_heads = 16;
  const auto all = blocks_to_compare(problem, 1, 1e18);
  EXPECT_EQ(all.size(), 16u * 256u);
  const auto some = blocks_to_compare(problem, 1, 1e11);
  EXPECT_LT(some.size(), all.size() / 4);
  EXPECT_GE(some.size(), 200u);
  EXPECT_EQ(some.front().first, 0);
  EXPECT_EQ(some.back().first, 16384 - 64);
  EXPECT_EQ(some.back().head, 15);
  std::int64_t rows = 0;
  for (const BlockRun& run : runs_of(some, 8)) {
    EXPECT_LE(run.count, 8u);
    rows += static_cast<std::int64_t>(run.count) * 64;
  }
  EXPECT_EQ(rows, static_cast<std::int64_t>(some.size()) * 64);
}

}  // namespace
}  // namespace flashbench::judge
