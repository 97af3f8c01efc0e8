// More scores than 32 bits count: naive's matrix alone is 8.6 GB.
#include "kernels/attention_case.hpp"
#include "worker/machine.hpp"

namespace flashbench::test {
namespace {

// Gives a tensor's last head of the last batch what its first has, times `factor`.
void last_like_first(Tensor& tensor, double factor) {
  for (int64_t s = 0; s < tensor.seq; ++s)
    for (int64_t x = 0; x < tensor.dim; ++x)
      tensor.set(tensor.batch - 1, s, tensor.heads - 1, x, factor * tensor.get(0, s, 0, x));
}

TEST(ManyScores, TheLastHeadIsLikeTheFirstPastTwoToThe31) {
  const Shape shape{
      .batch = 20, .query_heads = 27, .kv_heads = 27, .seq_q = 2000, .seq_k = 2000, .head_dim = 8};
  const int64_t scores = shape.batch * shape.query_heads * shape.seq_q * shape.seq_k;
  ASSERT_GT(scores, int64_t{1} << 31);
  const int64_t needed = cost_of("naive", shape).workspace_bytes;
  ASSERT_GE(needed, scores * 4);
  if (available_memory().value_or(0) < needed + (int64_t{4} << 30))
    GTEST_SKIP() << "this machine has not " << needed << " bytes and 4 GiB to spare";
  Case test(shape);
  last_like_first(test.q, 1);
  last_like_first(test.k, 1);
  last_like_first(test.v, 2);
  run("naive", test);
  for (int64_t b = 0; b < shape.batch; ++b)
    for (int64_t h = 0; h < shape.query_heads; ++h)
      for (int64_t s = 0; s < shape.seq_q; ++s)
        ASSERT_TRUE(std::isfinite(test.o.get(b, s, h, 0))) << b << " " << h << " " << s;
  for (int64_t s = 0; s < shape.seq_q; ++s)
    for (int64_t x = 0; x < shape.head_dim; ++x)
      ASSERT_EQ(test.o.get(shape.batch - 1, s, shape.query_heads - 1, x),
                2 * test.o.get(0, s, 0, x))
          << "row " << s;
}

}  // namespace
}  // namespace flashbench::test
