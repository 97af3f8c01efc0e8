// cases.md A27 at its own lengths: 4k and 8k causal, in blocks sampled as in a large problem.
#include <gmock/gmock.h>

#include "judge/emulated_kernel.hpp"
#include "judge/judge.hpp"
#include "worker/parallel.hpp"
#include "worker/peer.hpp"

namespace flashbench::judge {
namespace {

using flashbench::testing::EmulatedKernel;
using flashbench::testing::Folder;

const Tell quiet = [](double, double, const std::string&) {};

class Long : public ::testing::TestWithParam<std::int64_t> {
 protected:
  Problem problem(Dtype dtype) const {
    Problem p;
    p.seq_q = p.seq_k = GetParam();
    p.head_dim = 16;
    p.dtype = dtype;
    p.mask = Mask::causal;
    p.scale = 0.25;
    return p;
  }
  static constexpr double limit = 1;  // FLOPs: only the blocks that are always taken

  TensorCheck judged(Dtype dtype, std::uint64_t seed, const EmulatedKernel& kernel) const {
    const Problem p = problem(dtype);
    const InputSet set{seed, ""};
    const Inputs inputs(p, set, Pass::fwd, quiet);
    std::vector<float> o(static_cast<std::size_t>(p.seq_q * p.head_dim));
    for (const Block& block : blocks_to_compare(p, seed, limit)) {
      const auto rows = kernel.attend(inputs, 0, 0, block.first, block.rows);
      std::ranges::copy(rows, o.begin() + block.first * p.head_dim);
    }
    const Folder folder;
    write_npy(folder / "o.npy", {1, p.seq_q, 1, p.head_dim}, NpyType::f4, o.data());
    Judge judge(cpu_reference(), limit);
    judge.prepare({p, Pass::fwd, {set}}, quiet);
    const request::Judge question{Pass::fwd, 0, folder.path(), "v2", kernel.rounded_scores};
    return judge.judge(question, quiet).tensors[0];
  }
  // Fused and unfused, in both dtypes, at some seeds.
  void fails(EmulatedKernel kernel) const {
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      kernel.rounded_scores = seed % 2 == 0;
      const Dtype dtype = seed % 4 < 2 ? Dtype::fp16 : Dtype::bf16;
      const TensorCheck check = judged(dtype, seed, kernel);
      EXPECT_EQ(check.verdict, Verdict::fail) << "seed " << seed;
      EXPECT_GT(check.ratio.value(), 1.3) << "seed " << seed << ": only just caught";
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Judge, Long, ::testing::Values(4096, 8192));

TEST_P(Long, ACorrectKernelPassesAtEverySeed) {
  parallel_for(100, [&](std::int64_t index) {
    const auto seed = static_cast<std::uint64_t>(index + 1);
    const TensorCheck check = judged(Dtype::fp16, seed, {});
    EXPECT_EQ(check.verdict, Verdict::pass) << "seed " << seed << ": " << check.reason;
    EXPECT_GE(check.rows_checked, 256);
  });
}

TEST_P(Long, ADiagonalKeyLostInTheSecondHalfFails) {
  EmulatedKernel kernel;
  kernel.loses = [half = GetParam() / 2](auto row, auto key) { return row >= half && key == row; };
  fails(kernel);
}

TEST_P(Long, ADroppedTileFails) {
  EmulatedKernel kernel;
  kernel.loses = [tile = GetParam() / 128](auto, auto key) { return key / 64 == tile; };
  fails(kernel);
}

}  // namespace
}  // namespace flashbench::judge
