// Shapes past the limits that grids, 32-bit indices and tiles set, and shapes that are odd.
#include "end_to_end/recipes/recipe.hpp"
#include "end_to_end/recipes/worker.hpp"

namespace flashbench::test {
namespace {

class Shapes : public OnDevice {};

// On a GPU the scores are 2,560,000,000: more than 32 bits count.
TEST_F(Shapes, TheLastHeadOfManyScoresIsLikeTheFirst) {
  const std::int64_t batch = on_gpu ? 20 : 2, heads = on_gpu ? 32 : 3, length = on_gpu ? 2000 : 200;
  const auto last_like_first = [&](std::uint64_t seed, double factor, double plus) -> Element {
    return [=, values = noise(seed)](auto b, auto s, auto h, auto x) {
      const bool last = b == batch - 1 && h == heads - 1;
      return last ? factor * (values(0, s, 0, x) + plus) : values(b, s, h, x) + plus;
    };
  };
  const Recipe recipe{tensor(batch, length, heads, 64, last_like_first(1, 1, 0)),
                      tensor(batch, length, heads, 64, last_like_first(2, 1, 0)),
                      tensor(batch, length, heads, 64, last_like_first(3, 2, 4))};
  for (const Result& result : recipe.run(tested_dtypes().front())) {
    for (const double value : result.o.values) ASSERT_TRUE(std::isfinite(value)) << result.impl;
    for (std::int64_t s = 0; s < length; ++s)
      for (std::int64_t x = 0; x < 64; ++x)
        ASSERT_EQ(result.o.at(batch - 1, s, heads - 1, x), 2 * result.o.at(0, s, 0, x))
            << result.impl << " row " << s;
  }
}

class ManyPositions : public OnDevice, public ::testing::WithParamInterface<std::int64_t> {
 protected:
  static constexpr std::int64_t few = 4;
  const std::int64_t head_dim = on_gpu ? 64 : 8;
};

TEST_P(ManyPositions, TheLastKeyCounts) {
  const std::int64_t keys = GetParam();
  const double right = 1024.0 / static_cast<double>(keys);
  const auto last = [keys](auto, auto s, auto, auto) { return s == keys - 1 ? 1024.0 : 0.0; };
  Recipe recipe{tensor(1, few, 1, head_dim, constant(0)), tensor(1, keys, 1, head_dim, constant(1)),
                tensor(1, keys, 1, head_dim, last)};
  const std::string dtype = tested_dtypes().front();
  for (const Result& result : recipe.run(dtype))
    for (int s = 0; s < few; ++s) {
      expect_row(result, 0, s, 0, right, 1e-4);
      expect_lse(result, 0, 0, s, std::log(static_cast<double>(keys)), 1e-4);
    }
  recipe.more = {"--causal"};  // only the last query sees the last key
  for (const Result& result : recipe.run(dtype))
    for (int s = 0; s < few; ++s)
      expect_row(result, 0, s, 0, s == few - 1 ? right : 0, s == few - 1 ? 1e-4 : 0);
}

TEST_P(ManyPositions, AsManyQueriesAllGetTheirRow) {
  const std::int64_t queries = GetParam();
  const Recipe recipe{
      tensor(1, queries, 1, head_dim, constant(0)), tensor(1, few, 1, head_dim, constant(1)),
      tensor(1, few, 1, head_dim, [](auto, auto s, auto, auto) { return 4.0 * s; })};
  for (const Result& result : recipe.run(tested_dtypes().front()))
    for (std::int64_t s = 0; s < queries; ++s) expect_row(result, 0, s, 0, 6, 1e-3);
}
INSTANTIATE_TEST_SUITE_P(Shapes, ManyPositions, ::testing::Values(65535, 65536, 65537));

struct BatchAndHeads {
  std::int64_t batch, heads;
};
class ManyHeads : public OnDevice, public ::testing::WithParamInterface<BatchAndHeads> {};

TEST_P(ManyHeads, EachGetsItsOwnValues) {
  const auto [batch, heads] = GetParam();
  const std::int64_t length = 2, head_dim = on_gpu ? 64 : 8;
  const auto own = [n = heads](std::int64_t b, std::int64_t h) {
    return static_cast<double>((b * n + h) % 7 + 1);
  };
  const Recipe recipe{tensor(batch, length, heads, head_dim, noise(1)),
                      tensor(batch, length, heads, head_dim, constant(0)),
                      tensor(batch, length, heads, head_dim,
                             [&](auto b, auto, auto h, auto) { return own(b, h); })};
  for (const Result& result : recipe.run(tested_dtypes().front()))
    for (std::int64_t b = 0; b < batch; ++b)
      for (std::int64_t s = 0; s < length; ++s)
        for (std::int64_t h = 0; h < heads; ++h)
          for (std::int64_t x = 0; x < head_dim; ++x)
            ASSERT_EQ(result.o.at(b, s, h, x), own(b, h)) << result.impl << " " << b << " " << h;
}
INSTANTIATE_TEST_SUITE_P(Shapes, ManyHeads,
                         ::testing::Values(BatchAndHeads{65535, 1}, BatchAndHeads{65536, 1},
                                           BatchAndHeads{80000, 1}, BatchAndHeads{1024, 64},
                                           BatchAndHeads{1, 65536}),
                         [](const auto& info) {
                           return std::to_string(info.param.batch) + "x" +
                                  std::to_string(info.param.heads);
                         });

TEST_F(Shapes, QueryHeadsShareKvHeadsInOrder) {
  const Recipe recipe{tensor(1, 64, 8, 64, constant(0)), tensor(1, 64, 2, 64, noise(1)),
                      tensor(1, 64, 2, 64, [](auto, auto, auto h, auto) { return h + 1.0; })};
  for (const std::string& dtype : tested_dtypes())
    for (const Result& result : recipe.run(dtype))
      for (int s = 0; s < 64; ++s)
        for (int h = 0; h < 8; ++h) expect_row(result, 0, s, h, h < 4 ? 1 : 2, 1e-3);
}

TEST_F(Shapes, LseIsTheNaturalLogarithm) {
  const Recipe recipe{tensor(1, 64, 1, 64, constant(0)), tensor(1, 1024, 1, 64, noise(1)),
                      tensor(1, 1024, 1, 64, noise(2))};
  for (const std::string& dtype : tested_dtypes())
    for (const Result& result : recipe.run(dtype))
      for (int s = 0; s < 64; ++s) expect_lse(result, 0, 0, s, 6.931472, 1e-5);
}

// Whether an implementation has to have a head dimension; it may always refuse one by name.
bool required(const std::string& impl, std::int64_t head_dim) {
  if (on_gpu && impl != "naive") return head_dim == 64 || head_dim == 128;
  return head_dim % 8 == 0;
}

TEST_F(Shapes, EveryHeadDimensionIsRightAndRepeatableOrRefusedByName) {
  TestedWorker worker;
  TestedJudge judge;
  const Folder folder;
  request::Output output;
  for (const Dtype dtype : {Dtype::fp16, Dtype::bf16})
    for (const std::int64_t head_dim : {32, 40, 63, 64, 72, 80, 96, 112, 128, 160, 192, 256}) {
      request::Prepare prepare{square(2, 97, head_dim, Mask::causal), Pass::fwd, {{1, ""}}};
      prepare.problem.dtype = dtype;
      worker.ok<reply::Prepare>(prepare);
      judge.ok<reply::Prepare>(prepare);
      for (const char* impl : {"naive", "v1", "v2"}) {
        SCOPED_TRACE(impl + std::string(" ") + std::to_string(head_dim));
        output.impl = impl;
        output.dir = folder.path();
        const Reply made = worker.ask(output);
        if (made.status == Status::unsupported) {
          EXPECT_FALSE(required(impl, head_dim)) << made.reason;
          EXPECT_TRUE(contains(made.reason, "head_dim")) << made.reason;
          continue;
        }
        ASSERT_EQ(made.status, Status::ok) << made.reason;
        const request::Judge question{Pass::fwd, 0, folder.path(), impl, rounds_scores(impl)};
        for (const TensorCheck& check : judge.ok<reply::Judge>(question).tensors)
          EXPECT_EQ(check.verdict, Verdict::pass) << check.reason;
        output.dir.clear();
        const auto first = std::get<reply::Output>(*made.body);  // of three runs
        const auto again = worker.ok<reply::Output>(output);
        EXPECT_TRUE(first.repeats_equal.value_or(false) && again.repeats_equal.value_or(false));
        EXPECT_EQ(first.hash, again.hash);
      }
    }
}

}  // namespace
}  // namespace flashbench::test
