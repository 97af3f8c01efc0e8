#include "record/problem.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "record/rows.hpp"

namespace flashbench {
namespace {

using testing::problem;

double pairs_one_by_one(const Problem& problem) {
  double pairs = 0;
  for (std::int64_t i = 0; i < problem.seq_q; ++i)
    for (std::int64_t j = 0; j < problem.seq_k; ++j)
      pairs += problem.mask == Mask::full || j <= i + problem.seq_k - problem.seq_q;
  return pairs;
}

TEST(Flops, causal_is_never_credited_with_the_full_square) {
  Problem p = problem();
  EXPECT_EQ(flops(p, Pass::fwd).counted, 549755813888.0);
  EXPECT_EQ(flops(p, Pass::fwd).exact, 549755813888.0);
  EXPECT_EQ(flops(p, Pass::fwd).convention, "full");
  p.mask = Mask::causal;
  EXPECT_EQ(flops(p, Pass::fwd).counted, 274877906944.0);
  EXPECT_EQ(flops(p, Pass::fwd).exact, 274945015808.0);
  EXPECT_EQ(flops(p, Pass::fwd).convention, "causal-half");
}

TEST(Flops, causal_of_unequal_lengths_counts_unmasked_pairs) {
  Problem p = problem();
  p.mask = Mask::causal;
  p.seq_k = 1024;
  const Flops counted = flops(p, Pass::fwd);
  EXPECT_EQ(counted.convention, "causal-exact");
  EXPECT_EQ(counted.counted, counted.exact);
  EXPECT_EQ(counted.exact, 4.0 * 4 * 16 * 128 * (1024.0 * 1025 / 2));
}

TEST(Flops, backward_is_two_and_a_half_forwards_and_both_three_and_a_half) {
  EXPECT_EQ(flops(problem(), Pass::bwd).counted, 1374389534720.0);
  EXPECT_EQ(flops(problem(), Pass::fwd_bwd).counted, 1924145348608.0);
}

TEST(Flops, layout_does_not_change_them) {
  Problem p = problem();
  p.batch = 1;
  p.heads = p.kv_heads = 48;
  p.seq_q = p.seq_k = 21730;
  p.head_dim = 64;
  for (const Layout layout : {Layout::bshd, Layout::bhsd}) {
    p.layout = layout;
    EXPECT_EQ(flops(p, Pass::fwd).counted, 5802306355200.0);
  }
}

TEST(Pairs, agree_with_counting_one_by_one) {
  Problem p = problem();
  for (const Mask mask : {Mask::full, Mask::causal})
    for (std::int64_t q = 0; q < 12; ++q)
      for (std::int64_t k = 0; k < 12; ++k) {
        p.mask = mask;
        p.seq_q = q;
        p.seq_k = k;
        EXPECT_EQ(unmasked_pairs(p), pairs_one_by_one(p)) << name(mask) << " " << q << " " << k;
      }
}

Case of(Problem problem) {
  Case what;
  what.impl = "v2";
  what.problem = problem;
  what.backend = Backend::cuda;
  return what;
}

TEST(Key, names_every_axis) {
  Problem p = problem();
  p.batch = 1;
  p.mask = Mask::causal;
  EXPECT_EQ(key(of(p)),
            "v2/fwd/b1/h16/kv16/q4096/k4096/d128/fp16/causal/scale0.08838834764831845/bshd/normal/"
            "cold/cuda/built-in");
}

TEST(Key, differs_where_any_axis_differs) {
  std::vector<Case> cases(18, of(problem()));
  cases[1].impl = "v1";
  cases[2].pass = Pass::bwd;
  cases[3].problem.batch = 5;
  cases[4].problem.heads = 32;
  cases[5].problem.kv_heads = 8;
  cases[6].problem.seq_q = 1;
  cases[7].problem.seq_k = 1;
  cases[8].problem.head_dim = 64;
  cases[9].problem.dtype = Dtype::bf16;
  cases[10].problem.mask = Mask::causal;
  cases[11].problem.scale = 0.0883883476483185;  // the next double
  cases[12].problem.layout = Layout::bhsd;
  cases[13].problem.init = Init::zeros;
  cases[14].problem.deterministic = true;
  cases[15].cache = Cache::warm;
  cases[16].backend = Backend::cpu;
  cases[17].source = "against:old";
  std::vector<std::string> keys;
  for (const Case& each : cases) keys.push_back(key(each));
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(std::unique(keys.begin(), keys.end()), keys.end());
}

TEST(Key, of_the_problem_leaves_out_who_answers_it) {
  Case one = of(problem()), other = one;
  other.impl = "ladder/q-outer";
  other.pass = Pass::bwd;
  other.source = "plugin:x";
  EXPECT_EQ(problem_key(one), problem_key(other));
}

TEST(Key, makes_one_folder_name) {
  Case what = of(problem());
  what.impl = "ladder/q-outer";
  EXPECT_EQ(folder_name(what).find('/'), std::string::npos);
  EXPECT_EQ(folder_name(what).rfind("ladder,q-outer,fwd,b4,", 0), 0u);
}

}  // namespace
}  // namespace flashbench
