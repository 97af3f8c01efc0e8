// The bundled plugin of PyTorch: with it, without it, and without Python.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/run_program.hpp"
#include "support/temporary_folder.hpp"
#include "support/text.hpp"

namespace flashbench::test {
namespace {

using testing::HasSubstr;
using testing::Not;

const Arguments tiny{"--device", "cpu", "--seq", "64", "--head-dim", "32", "--time-budget", "0.1"};

nlohmann::json rows_of(const Arguments& more, const Environment& environment = {}) {
  Arguments words = tiny;
  words.insert(words.end(), more.begin(), more.end());
  words.insert(words.end(), {"--json", "-"});
  const Outcome run = flashbench_says(words, environment, 300);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  return strict_json(run.out).at("rows");
}

TEST(Peers, WithoutPythonAreUnsupported) {
  const auto rows = rows_of({"--impl", "v2,pytorch-flash"}, {{"PATH", "/nowhere"}});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].at("status"), "ok");
  EXPECT_EQ(rows[1].at("status"), "unsupported");
  EXPECT_THAT(rows[1].at("reason").get<std::string>(), HasSubstr("python3 is not in PATH"));
}

TEST(Peers, WithoutPyTorchAreUnsupported) {
  const TemporaryFolder folder;
  folder.write("torch.py", "raise ImportError('no torch today')");
  const auto rows = rows_of({"--impl", "v2,pytorch-*"}, {{"PYTHONPATH", folder.path().string()}});
  ASSERT_EQ(rows.size(), 5U);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].at("status"), "unsupported");
    EXPECT_THAT(rows[i].at("reason").get<std::string>(), HasSubstr("no torch today"));
  }
}

TEST(Peers, AreNotLoadedUnlessTheyAreNamed) {
  for (const auto& row : rows_of({"--impl", "all"}))
    EXPECT_THAT(row.at("impl").get<std::string>(), Not(HasSubstr("pytorch")));
}

class PyTorch : public testing::Test {
 protected:
  void SetUp() override {
    if (Program("/usr/bin/env", {"python3", "-c", "import torch"}).wait().exit_code != 0)
      GTEST_SKIP() << "python3 has no PyTorch";
  }
};

TEST_F(PyTorch, IsCheckedAndTimedForwardAndBackward) {
  // More keys than queries, grouped heads, the other layout: masks and strides that matter.
  const auto rows = rows_of({"--impl", "pytorch-math,pytorch-flash", "--pass", "fwd,bwd,fwd+bwd",
                             "--mask", "full,causal", "--batch", "2", "--heads", "4", "--kv-heads",
                             "2", "--seq-k", "100", "--layout", "bhsd", "--dtype", "fp32,bf16"});
  EXPECT_EQ(rows.size(), 24U);
  for (const auto& row : rows) {
    EXPECT_EQ(row.at("status"), "ok") << row.at("key") << ": " << row.at("reason");
    const bool forward = row.at("pass") != "bwd", backward = row.at("pass") != "fwd";
    EXPECT_EQ(row.at("numerics").contains("o"), forward);
    EXPECT_EQ(row.at("numerics").contains("dq"), backward);
    for (const auto& tensor : row.at("numerics")) EXPECT_EQ(tensor.at("verdict"), "pass");
    EXPECT_GT(row.at("time_ms").at("median"), 0);
  }
}

TEST_F(PyTorch, SaysWhatItDoesNotDo) {
  const auto rows =
      rows_of({"--impl", "v2,pytorch-cudnn,pytorch-flash", "--causal", "--seq-k", "16"});
  EXPECT_EQ(rows[1].at("reason"), "PyTorch has its cudnn backend for GPUs only");
  EXPECT_EQ(rows[2].at("reason"), "PyTorch gives NaN to a query that sees no key");
}

}  // namespace
}  // namespace flashbench::test
