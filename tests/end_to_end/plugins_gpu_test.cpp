// Plugins, peers and planted faults on a GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/places.hpp"
#include "support/tested_device.hpp"
#include "support/text.hpp"

namespace flashbench::test {
namespace {

using testing::HasSubstr;

nlohmann::json rows_of(const Arguments& words) {
  const Outcome run = flashbench_says(words, {}, 280);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  return strict_json(run.out).at("rows");
}

class Selftest : public OnDevice {};
TEST_F(Selftest, CatchesTheThirteenFaultsInUnderAMinute) {
  const Outcome run = flashbench_says({"selftest", "--device", "cuda"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_LT(run.seconds, 60);
  EXPECT_THAT(run.out, HasSubstr("all 13 faults were caught"));
}

// Within the wider of the two intervals, but no closer than 0.5 %: processes differ in where their
// memory lies.
class Timer : public OnDevice {};
TEST_F(Timer, OfAPluginAndOfTheBuiltInAgree) {
  const auto rows = rows_of({"--device", "cuda", "--impl", "v2", "--seq", "4k", "--time-budget",
                             "5", "--plugin", in_bin("flashbench-builtin-cuda.so"), "--json", "-"});
  ASSERT_EQ(rows.size(), 2U);
  double times[2], width = 0.005;
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(rows[i].at("status"), "ok") << rows[i].at("reason");
    const auto& time = rows[i].at("time_ms");
    times[i] = time.at("median");
    width = std::max(width, (time.at("high").get<double>() - time.at("low").get<double>()) /
                                time.at("median").get<double>());
  }
  EXPECT_LT(std::abs(times[0] / times[1] - 1), width);
}

class Example : public OnDevice {};
TEST_F(Example, InCudaIsCheckedAndTimedInEveryShapeItDoes) {
  for (const auto& row : rows_of({"--device",      "cuda",
                                  "--impl",        "v2,example-cuda",
                                  "--seq",         "97",
                                  "--seq-k",       "64,130",
                                  "--batch",       "2",
                                  "--heads",       "4",
                                  "--kv-heads",    "2",
                                  "--head-dim",    "40,64,256",
                                  "--dtype",       "fp16,bf16",
                                  "--mask",        "full,causal",
                                  "--layout",      "bshd,bhsd",
                                  "--time-budget", "0.05",
                                  "--plugin",      in_bin("flashbench-example-cuda.so"),
                                  "--json",        "-"})) {
    if (row.at("impl") != "example-cuda") continue;
    EXPECT_EQ(row.at("status"), "ok") << row.at("key") << row.at("reason");
    EXPECT_EQ(row.at("numerics").at("o").at("verdict"), "pass") << row.at("key");
    EXPECT_EQ(row.at("numerics").at("lse").at("verdict"), "pass") << row.at("key");
  }
}

class PyTorch : public OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    if (!IsSkipped() &&
        Program("/usr/bin/env",
                {"python3", "-c", "import sys, torch; sys.exit(not torch.cuda.is_available())"})
                .wait()
                .exit_code != 0)
      GTEST_SKIP() << "python3 has no PyTorch that sees the GPU";
  }
};

TEST_F(PyTorch, IsCheckedAndTimedForwardAndBackward) {
  const auto rows =
      rows_of({"--device", "cuda",        "--impl",        "pytorch-*", "--pass",   "fwd,bwd",
               "--mask",   "full,causal", "--batch",       "2",         "--heads",  "8",
               "--seq",    "512",         "--head-dim",    "64,128",    "--layout", "bshd,bhsd",
               "--dtype",  "fp16,bf16",   "--time-budget", "0.1",       "--json",   "-"});
  for (const auto& row : rows)
    EXPECT_EQ(row.at("status"), "ok") << row.at("key") << ": " << row.at("reason");
}

// Grouped heads, and more keys than queries: what a backend does not do, it has to say.
TEST_F(PyTorch, IsRightOrSaysThatItDoesNotDoAProblem) {
  const auto rows =
      rows_of({"--device",   "cuda",        "--impl",        "pytorch-*", "--pass",  "fwd,bwd",
               "--mask",     "full,causal", "--batch",       "2",         "--heads", "8",
               "--kv-heads", "2,8",         "--seq",         "300",       "--seq-k", "515",
               "--head-dim", "72,128",      "--time-budget", "0.1",       "--json",  "-"});
  for (const auto& row : rows) {
    const std::string status = row.at("status");
    EXPECT_TRUE(status == "ok" || status == "unsupported") << row.at("key") << row.at("reason");
  }
}

}  // namespace
}  // namespace flashbench::test
