// What a backward is given of the forward, and the D that it makes of it: the document's 7.1
// and 7.3.
#include "kernels/gradient_case.hpp"

namespace flashbench::test {
namespace {

constexpr const char* kNames[] = {"naive", "v1", "v2"};

class BackwardStatistics : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Cpu, BackwardStatistics, testing::ValuesIn(kNames),
                         [](const auto& param) { return std::string(param.param); });

TEST(Reference, RowSumOfDpTimesPIsRowSumOfDoTimesO) {  // 7.3: what spares the full row
  GradientCase test({.seq_q = 90, .seq_k = 120, .head_dim = 32, .mask = FLASHBENCH_CAUSAL});
  EXPECT_LT(reference_gradients(test, 0, 0).largest_identity_error, 1e-12);
}

// The left side of 7.3 is what naive computes, the right side what v1 and v2 do.
TEST(Backwards, AgreeWhicheverSideOfTheIdentityTheyCompute) {
  const Shape shape = {.seq_q = 300, .seq_k = 310, .head_dim = 32, .mask = FLASHBENCH_CAUSAL};
  GradientCase naive(shape), v1(shape), v2(shape);
  run("naive", naive);
  run_backward("naive", naive);
  for (auto* test : {&v1, &v2}) {
    run(test == &v1 ? "v1" : "v2", *test);
    run_backward(test == &v1 ? "v1" : "v2", *test);
    for (int64_t s = 0; s < 300; ++s)
      for (int64_t x = 0; x < 32; ++x) {
        ASSERT_NEAR(naive.dq.get(0, s, 0, x), test->dq.get(0, s, 0, x), 1e-5);
        ASSERT_NEAR(naive.dk.get(0, s, 0, x), test->dk.get(0, s, 0, x), 1e-5);
      }
  }
}

TEST_P(BackwardStatistics, OfAnyForwardWillDo) {
  for (const char* forward : kNames)
    for (const auto dtype : {FLASHBENCH_FP32, FLASHBENCH_FP16, FLASHBENCH_BF16})
      for (const auto mask : {FLASHBENCH_FULL, FLASHBENCH_CAUSAL}) {
        SCOPED_TRACE(testing::Message() << forward << " dtype " << dtype << " mask " << mask);
        GradientCase test(
            {.seq_q = 270, .seq_k = 260, .head_dim = 8, .dtype = dtype, .mask = mask});
        run(forward, test);
        const bool lse = cost_of(forward, test.shape).saves == FLASHBENCH_SAVES_LSE;
        run_backward(GetParam(), test, lse ? Statistics::lse : Statistics::m_and_l);
        expect_right_gradients(GetParam(), test);
        if (HasFatalFailure()) return;
      }
}

TEST(Backwards, WithoutStatisticsAreRefusedWithAReason) {
  GradientCase test({.seq_q = 4, .seq_k = 4});
  for (const char* name : kNames) {
    FlashbenchProblem problem = problem_of(test.shape);
    problem.passes = FLASHBENCH_BACKWARD;
    const FlashbenchDevice device = cpu_device();
    const auto size = static_cast<size_t>(backward_cost_of(name, test.shape).workspace_bytes);
    const std::unique_ptr<void, void (*)(void*)> workspace(
        std::aligned_alloc(256, (size + 255) / 256 * 256), std::free);
    FlashbenchInstance instance{};
    FlashbenchMessage message{};
    const FlashbenchImplementation& impl = implementation(name);
    ASSERT_EQ(impl.create(&problem, &device, workspace.get(), &instance, &message), FLASHBENCH_OK);
    FlashbenchBackward backward = backward_of(test, Statistics::lse, 0);
    backward.lse = nullptr;
    EXPECT_EQ(impl.backward(instance.state, &backward, nullptr, &message), FLASHBENCH_FAILED);
    EXPECT_NE(std::string(message.text).find("lse"), std::string::npos);
    FlashbenchForward forward{};
    EXPECT_EQ(impl.forward(instance.state, &forward, nullptr, &message), FLASHBENCH_FAILED);
    EXPECT_NE(std::string(message.text).find("pass"), std::string::npos);
    impl.destroy(instance.state);
  }
}

}  // namespace
}  // namespace flashbench::test
