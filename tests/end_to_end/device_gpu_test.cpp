// What only a machine with a GPU can show of the command.
#include <unistd.h>

#include <regex>

#include "end_to_end/recipes/recipe.hpp"
#include "end_to_end/recipes/worker.hpp"
#include "record/hardware_counters.hpp"
#include "support/places.hpp"

namespace flashbench::test {
namespace {

class Gpu : public OnDevice {};

// Of `nvidia-smi -L`: "GPU 0: NVIDIA H200 (UUID: GPU-...)", in the order of PCI addresses. None
// where it is divided into slices.
std::vector<std::string> gpu_uuids() {
  std::vector<std::string> uuids;
  for (const char* path : {"/usr/bin/nvidia-smi", "/usr/local/bin/nvidia-smi"}) {
    if (access(path, X_OK) != 0) continue;
    for (const std::string& line : lines_of(Program(path, {"-L"}).wait(30).out)) {
      if (contains(line, "UUID: MIG-")) return {};  // CUDA sees the slices, by other names
      const auto at = line.find("UUID: GPU-");
      if (line.starts_with("GPU ") && at != std::string::npos)
        uuids.push_back(line.substr(at + 6, line.find(')', at) - at - 6));
    }
    break;
  }
  return uuids;
}

// Not of the fixture above, which would skip.
TEST(GpuMachine, UsesTheGpuThatItsDriverShows) {
  if (gpu_uuids().empty()) GTEST_SKIP() << "nvidia-smi shows no whole GPU";
  if (access(in_bin("flashbench-worker-cuda").c_str(), X_OK) != 0)
    GTEST_SKIP() << "built without CUDA";
  EXPECT_EQ(why_not_tested(), "");
}

const Arguments one_small_row{"run", "--impl",  "v2", "--dtype", "fp16", "--head-dim",
                              "64",  "--heads", "1",  "--batch", "1",    "--seq",
                              "64",  "--iters", "3",  "--json",  "-"};

Outcome small_row(const std::string& device, const Environment& environment = {}) {
  Arguments words = one_small_row;
  words.insert(words.end(), {"--device", device});
  return flashbench_says(words, environment);
}

std::string uuid_of(const Outcome& run) {
  EXPECT_EQ(run.exit_code, 0) << run.err;
  return strict_json(run.out).at("device").at("uuid");
}

// Claims of the document's table 6.2, by the hardware. Where the driver forbids counters the row
// says so, and nothing else can be seen.
TEST_F(Gpu, CountsWhatVOnePaysForOInEveryStepAndWhatTheFormulasPredict) {
  const Outcome run =
      flashbench_says({"--counters", "--impl", "naive,v1,v2", "--dtype", "fp16", "--head-dim",
                       "128", "--batch", "4", "--heads", "16", "--seq", "2k", "--time-budget",
                       "0.05", "--device", "cuda", "--json", "-"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const auto rows = strict_json(run.out).at("rows");
  ASSERT_EQ(rows.size(), 3u);
  for (const auto& row : rows) EXPECT_EQ(row.at("status"), "ok");
  const auto traffic = [&](std::size_t row) { return rows.at(row).at("traffic"); };
  if (traffic(0).contains("uncounted"))
    GTEST_SKIP() << traffic(0).at("uncounted").get<std::string>();
  const auto measured = [&](std::size_t row, const char* metric) {
    return traffic(row).at("measured").at(metric).get<double>();
  };
  for (std::size_t row = 0; row < rows.size(); ++row) {
    EXPECT_GT(measured(row, counters::tensor_percent), 0) << row;
    EXPECT_LE(measured(row, counters::tensor_percent), 100) << row;
    EXPECT_GT(measured(row, counters::dram_read), 0) << row;
    EXPECT_GE(measured(row, counters::shared_wavefronts), measured(row, counters::bank_conflicts));
  }
  EXPECT_GT(measured(1, counters::l2_written), 4 * measured(2, counters::l2_written));
  // Of v2, within what instructions, arguments and spilled registers add: the formula is of tiles
  // alone.
  const auto modelled = [&](const char* way) {
    double sum = 0;
    const auto model = traffic(2).at("model").at(way);
    for (const auto& [operand, bytes] : model.items()) sum += bytes.get<double>();
    return sum;
  };
  EXPECT_NEAR(measured(2, counters::l2_read) / modelled("read"), 1, 0.1);
  EXPECT_GT(measured(2, counters::l2_written), 0.95 * modelled("written"));
  EXPECT_LT(measured(2, counters::l2_written), 1.5 * modelled("written"));
}

// On a GPU that the ladder is not built for every rung is unsupported, and the gap is named.
TEST_F(Gpu, ShowsTheLadderRungByRungWithWordsBelow) {
  const Outcome run = flashbench_says({"--impl", "ladder/*,v1,v2,without/*", "--dtype", "bf16",
                                       "--head-dim", "64", "--batch", "2", "--heads", "8", "--seq",
                                       "256", "--time-budget", "0.05", "--device", "cuda"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(contains(run.out, "The way from V1 to V2: batch 2")) << run.out;
  EXPECT_TRUE(contains(run.out, "blocks/SM")) << run.out;
  EXPECT_NE(contains(run.out, "ladder/logsumexp is "),
            contains(run.out, "There is no figure for ladder/v1"))
      << run.out;
}

TEST_F(Gpu, ShowsTheLadderOfTheBackwardByItself) {
  const Outcome run =
      flashbench_says({"--impl", "ladder/*,v1,v2,without/*", "--pass", "bwd", "--dtype", "bf16",
                       "--head-dim", "64", "--batch", "2", "--heads", "8", "--seq", "256",
                       "--time-budget", "0.05", "--device", "cuda"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(contains(run.out, "The way from V1 to V2, backward: batch 2")) << run.out;
  EXPECT_TRUE(contains(run.out, "ladder/grid-over-kv")) << run.out;
  EXPECT_FALSE(contains(run.out, "ladder/q-outer")) << run.out;
  EXPECT_NE(contains(run.out, "ladder/logsumexp is "),
            contains(run.out, "There is no figure for ladder/v1"))
      << run.out;
}

// Or the GPU is not the one that rungs are built for.
TEST_F(Gpu, ListsARungOfTheBackwardWithItsPassAndDtype) {
  const Outcome list = flashbench_says({"list"});
  EXPECT_EQ(list.exit_code, 0) << list.err;
  const std::regex found("ladder/d-once +bwd +bf16 +64, 128 "),
      elsewhere("ladder/d-once .*built for");
  EXPECT_TRUE(std::regex_search(list.out, found) || std::regex_search(list.out, elsewhere))
      << list.out;
}

TEST_F(Gpu, HiddenFromTheProcessIsExitThreeAtOnce) {
  const Outcome run = small_row("cuda", {{"CUDA_VISIBLE_DEVICES", ""}});
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_EQ(run.signal, 0);
  EXPECT_LT(run.seconds, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(lines_of(run.err).size(), 1u) << run.err;
  const Outcome list = flashbench_says({"list"}, {{"CUDA_VISIBLE_DEVICES", ""}});
  EXPECT_EQ(list.exit_code, 0) << list.err;
}

TEST_F(Gpu, BeyondThoseThereAreIsExitThreeNamingTheRange) {
  const Outcome run = small_row("99");
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_EQ(lines_of(run.err).size(), 1u) << run.err;
  EXPECT_TRUE(contains(run.err, "99")) << run.err;
  EXPECT_TRUE(contains(run.err, "0")) << run.err;
}

TEST_F(Gpu, OfTheReportIsTheOneThatRan) {
  const auto uuids = gpu_uuids();
  if (uuids.empty()) GTEST_SKIP() << "nvidia-smi shows no whole GPU";
  const std::string found = uuid_of(small_row("0", {{"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}}));
  EXPECT_TRUE(contains(found, uuids[0].substr(4))) << found << " for " << uuids[0];
}

TEST_F(Gpu, OrderIsThatOfVisibleDevices) {
  if (gpu_uuids().size() < 2) GTEST_SKIP() << "there is one GPU only";
  const auto first_of = [](const char* visible) {
    return uuid_of(small_row("0", {{"CUDA_VISIBLE_DEVICES", visible}}));
  };
  EXPECT_NE(first_of("0,1"), first_of("1,0"));
}

// Whatever a kernel does not do is a row that says so, and no later row suffers.
TEST_F(Gpu, WhatAKernelDoesNotDoIsRefusedBeforeItIsLaunched) {
  const Outcome run = flashbench_says({"run",
                                       "--device",
                                       "cuda",
                                       "--dtype",
                                       "fp32,fp16,bf16",
                                       "--pass",
                                       "fwd,bwd",
                                       "--head-dim",
                                       "72,64,512,128",
                                       "--impl",
                                       "naive,v1,v2",
                                       "--batch",
                                       "1",
                                       "--heads",
                                       "2",
                                       "--seq",
                                       "97",
                                       "--check-only",
                                       "--json",
                                       "-"},
                                      {}, 240);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const auto report = strict_json(run.out);
  ASSERT_EQ(report.at("rows").size(), 3u * 2 * 4 * 3);
  for (const auto& row : report.at("rows")) {
    const std::int64_t head_dim = row.at("problem").at("head_dim");
    const bool built = row.at("problem").at("dtype") != "fp32" && row.at("pass") == "fwd" &&
                       (head_dim == 64 || head_dim == 128);
    if (built) {
      EXPECT_EQ(row.at("status"), "ok") << row.at("key") << row.at("reason");
    }
    if (row.at("status") == "ok") continue;
    EXPECT_EQ(row.at("status"), "unsupported") << row.at("key") << row.at("reason");
    ASSERT_TRUE(row.at("reason").is_string());
    EXPECT_NE(row.at("reason"), "") << row.at("key");
  }
}

// More than 2^32 scores, and a grid or index of 16 bits too few.
TEST_F(Gpu, AsManyQueriesAsKeysAllGetTheirRow) {
  for (const std::int64_t length : {65535, 65536, 65537}) {
    const double right = 1024.0 / static_cast<double>(length);
    Recipe recipe{tensor(1, length, 1, 64, constant(0)), tensor(1, length, 1, 64, constant(1)),
                  tensor(1, length, 1, 64,
                         [&](auto, auto s, auto, auto) { return s == length - 1 ? 1024.0 : 0.0; })};
    recipe.impls = {"v2"};
    if (length > 65536) recipe.impls.push_back("v1");  // a second a run: it has one block here
    for (const bool causal : {false, true}) {
      recipe.more = {"--mask", causal ? "causal" : "full"};
      for (const Result& result : recipe.run("fp16"))
        for (std::int64_t s = 0; s < length; ++s) {
          const bool sees_it = !causal || s == length - 1;
          expect_row(result, 0, s, 0, sees_it ? right : 0, sees_it ? 1e-4 : 0);
        }
    }
  }
}

TEST_F(Gpu, MemoryIsGivenBackByADrop) {
  TestedWorker worker;
  const auto before = worker.ok<reply::Drop>(request::Drop{}).free_bytes;
  worker.ok<reply::Prepare>(request::Prepare{square(64, 4096, 64), Pass::fwd, {{1, ""}}});
  request::Output output;
  output.impl = "naive";  // 2 GiB of scores
  worker.ok<reply::Output>(output);
  const auto after = worker.ok<reply::Drop>(request::Drop{}).free_bytes;
  ASSERT_TRUE(before && after);
  EXPECT_GT(*after, *before - (std::int64_t{256} << 20)) << "cuBLAS and kernels may stay loaded";
}

double median_of_twenty(const char* warm_up) {
  const Outcome run =
      flashbench_says({"run",     "--device", "cuda",    "--dtype", "fp16",  "--impl", "v2",
                       "--batch", "1",        "--heads", "16",      "--seq", "1024",   "--head-dim",
                       "64",      "--warmup", warm_up,   "--iters", "20",    "--json", "-"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  return strict_json(run.out).at("rows").at(0).at("time_ms").at("median");
}

TEST_F(Gpu, AWarmUpChangesNoMedian) {
  const double without = median_of_twenty("0"), with = median_of_twenty("20");
  EXPECT_NEAR(without, with, 0.05 * std::max(with, without));
}

}  // namespace
}  // namespace flashbench::test
