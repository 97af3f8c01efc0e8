// Whether times are those of the work, and of nothing else. Other processes can only make a time
// longer, so the CPU's are judged by the shortest of many.
#include <algorithm>
#include <numeric>

#include "end_to_end/recipes/recipe.hpp"
#include "end_to_end/recipes/worker.hpp"

namespace flashbench::test {
namespace {

class Timing : public OnDevice {};

std::vector<double> milliseconds(const reply::Run& run) {
  std::vector<double> times;
  for (const Sample& sample : run.samples) times.push_back(sample.ms);
  return times;
}
double median(std::vector<double> times) {
  std::nth_element(times.begin(), times.begin() + static_cast<long>(times.size() / 2), times.end());
  return times[times.size() / 2];
}
double shortest(const std::vector<double>& times) {
  return *std::min_element(times.begin(), times.end());
}
// What a run is judged by: a GPU has no neighbours.
double typical(const std::vector<double>& times) {
  return on_gpu ? median(times) : shortest(times);
}

reply::Run timed(TestedWorker& worker, const Problem& problem, Cache cache, std::int64_t count) {
  worker.ok<reply::Prepare>(request::Prepare{problem, Pass::fwd, {{1, ""}, {2, ""}}});
  request::Run run;
  run.impl = "v2";
  run.cache = cache;
  run.count = count;
  return worker.ok<reply::Run>(run);
}

TEST_F(Timing, SixteenTimesTheWorkTakesAboutSixteenTimesAsLong) {
  TestedWorker worker;
  const std::int64_t length = on_gpu ? 4096 : 512, heads = on_gpu ? 16 : 1;
  const auto some = timed(worker, square(heads, length, 128), Cache::warm, 20);
  const auto more = timed(worker, square(heads, 4 * length, 128), Cache::warm, on_gpu ? 20 : 6);
  const double ratio = typical(milliseconds(more)) / typical(milliseconds(some));
  EXPECT_GE(ratio, on_gpu ? 13 : 4);
  EXPECT_LE(ratio, on_gpu ? 20 : 64);
}

TEST_F(Timing, SamplesFitIntoTheTimeThatPassed) {
  TestedWorker worker;
  for (const Cache cache : {Cache::warm, Cache::cold}) {
    const auto run = timed(worker, square(2, 512, 64), cache, 50);
    const std::vector<double> times = milliseconds(run);
    ASSERT_EQ(times.size(), 50u);
    EXPECT_GE(run.wall_ms, std::accumulate(times.begin(), times.end(), 0.0));
    EXPECT_GE(run.wall_ms, 50 * shortest(times));
  }
}

// One query over many keys: bytes bind. On the CPU K and V fit into the L2, from which they are
// flushed; a GPU's L2 may not hold them.
Problem memory_bound() {
  Problem problem = square(on_gpu ? 16 : 1, on_gpu ? 256 : 512, 128);
  problem.batch = on_gpu ? 16 : 1;
  problem.seq_q = 1;
  return problem;
}

TEST_F(Timing, AColdCacheIsFlushedOutsideTheTimeAndNoFasterThanAWarmOne) {
  TestedWorker worker;
  const Problem problem = memory_bound();
  const auto cold = timed(worker, problem, Cache::cold, 100);
  const auto warm = timed(worker, problem, Cache::warm, 100);
  EXPECT_GE(cold.flush_bytes.value_or(0), 2 * worker.device.l2_bytes.value());
  EXPECT_GT(cold.flush_bytes.value_or(0), 0);
  EXPECT_FALSE(warm.flush_bytes);
  EXPECT_GE(typical(milliseconds(cold)), typical(milliseconds(warm)));
  const std::vector<double> times = milliseconds(cold);
  EXPECT_GT(cold.wall_ms, 1.2 * std::accumulate(times.begin(), times.end(), 0.0))
      << "the flush takes time, but none of the samples'";
  if (on_gpu && worker.device.peak_gbps) {
    const double bytes = 2.0 * 16 * 16 * 256 * 128 * 2;
    EXPECT_LE(bytes / (median(times) * 1e-3), 1.02 * *worker.device.peak_gbps * 1e9);
  }
}

TEST_F(Timing, TheReportSaysWhetherTheCacheWasCold) {
  for (const std::string cache : {"cold", "warm"}) {
    const Outcome run = flashbench_says({"run",
                                         "--device",
                                         tested_device(),
                                         "--dtype",
                                         tested_dtypes().front(),
                                         "--impl",
                                         "v2",
                                         "--batch",
                                         "1",
                                         "--heads",
                                         "1",
                                         "--seq",
                                         "64",
                                         "--head-dim",
                                         "64",
                                         "--iters",
                                         "3",
                                         "--cache",
                                         cache,
                                         "--json",
                                         "-"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const auto report = strict_json(run.out);
    EXPECT_EQ(report.at("measurement").at("cache"), cache);
    EXPECT_EQ(report.at("measurement").at("flush_bytes").is_null(), cache == "warm");
    EXPECT_TRUE(contains(report.at("rows").at(0).at("key"), cache));
  }
}

// What happens once - loading, compiling, starting threads, the first touch of memory - is done
// before the first sample, whether or not a warm-up was asked for.
TEST_F(Timing, TheFirstSampleOfAFreshProcessIsLikeTheOthers) {
  std::vector<double> firsts, all;
  for (int process = 0; process < 5; ++process) {
    TestedWorker worker;
    const auto times = milliseconds(timed(worker, square(1, 64, 64), Cache::warm, 20));
    firsts.push_back(times.front());
    all.push_back(median(times));
  }
  EXPECT_LE(shortest(firsts), 3 * median(all));
}

// What the GPU could do at its peak is 18.6 ms for the larger problem on an A100.
TEST_F(Timing, TheLayoutChangesNeitherTheOutputNorMuchOfTheTime) {
  const std::string length = on_gpu ? "21730" : "512", heads = on_gpu ? "48" : "4";
  const std::string dtype = on_gpu ? "bf16" : "fp32";
  const TemporaryFolder out;
  const Outcome run = flashbench_says({"run",
                                       "--device",
                                       tested_device(),
                                       "--dtype",
                                       dtype,
                                       "--impl",
                                       "v2",
                                       "--batch",
                                       "1",
                                       "--heads",
                                       heads,
                                       "--seq",
                                       length,
                                       "--head-dim",
                                       "64",
                                       "--layout",
                                       "bshd,bhsd",
                                       "--dump",
                                       out.path().string(),
                                       "--iters",
                                       "20",
                                       "--json",
                                       "-"},
                                      {}, 240);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto report = strict_json(run.out);
  ASSERT_EQ(report.at("rows").size(), 2u);
  std::vector<double> times;
  std::vector<Array> outputs;
  for (const auto& row : report.at("rows")) {
    const double flops = row.at("flops").at("counted");
    EXPECT_EQ(flops, on_gpu ? 5802306355200 : 4.0 * 4 * 512 * 512 * 64);
    times.push_back(row.at("time_ms").at(on_gpu ? "median" : "min"));
    EXPECT_NEAR(row.at("tflops"), flops / row.at("time_ms").at("median").get<double>() * 1e-9,
                1e-6 * row.at("tflops").get<double>());
    if (const auto& peak = report.at("device").at("peak_tflops"); peak.is_number()) {
      EXPECT_LE(row.at("tflops"), peak);
    }
  }
  for (const auto& entry : std::filesystem::recursive_directory_iterator(out.path()))
    if (entry.path().filename() == "o.npy") outputs.push_back(read_npy(entry.path()));
  EXPECT_LT(std::max(times[0], times[1]), (on_gpu ? 2 : 5) * std::min(times[0], times[1]));
  ASSERT_EQ(outputs.size(), 2u);
  EXPECT_EQ(outputs[0].values, outputs[1].values);
}

}  // namespace
}  // namespace flashbench::test
