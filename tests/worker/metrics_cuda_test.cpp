// The metrics of --counters are held against the libcupti of this machine, which knows the chips
// without a GPU.
#include <gtest/gtest.h>

#include "record/hardware_counters.hpp"
#include "worker/answer.hpp"

#ifdef FLASHBENCH_FAKE_CUPTI
#include "worker/cupti_host_cuda.hpp"

namespace flashbench::testing {
namespace {

// More would be a sign of a metric that is not of the hardware's counters.
constexpr std::size_t most_passes = 6;

class Metrics : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    unsetenv("FLASHBENCH_CUPTI");
    try {
      cupti();
    } catch (const Refusal& refused) {
      GTEST_SKIP() << refused.what();
    }
  }
};

TEST_P(Metrics, ExistOnTheChip) {
  const CuptiHost host(GetParam(), {});
  for (const std::string& metric : counters::all()) EXPECT_TRUE(host.knows(metric)) << metric;
  EXPECT_FALSE(host.knows("dram__bytes_reads.sum")) << "it would take any name";
}

TEST_P(Metrics, AreCountedInAFewPassesTogether) {
  const CuptiHost host(GetParam(), {});
  std::vector<const char*> metrics;
  for (const std::string& metric : counters::all()) metrics.push_back(metric.c_str());
  CuptiImage configuration = host.configuration(metrics);
  const std::size_t passes = CuptiHost::passes(configuration);
  RecordProperty("passes", static_cast<int>(passes));
  EXPECT_GE(passes, 1u);
  EXPECT_LE(passes, most_passes);
}

// A100, H100 and H200, B200.
INSTANTIATE_TEST_SUITE_P(Chips, Metrics, ::testing::Values("GA100", "GH100", "GB100"),
                         [](const auto& chip) { return chip.param; });

}  // namespace
}  // namespace flashbench::testing

#else  // built without CUPTI

TEST(Metrics, ExistOnTheChip) {
  GTEST_SKIP() << "built without CUPTI";
}

#endif
